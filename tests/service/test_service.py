"""The service answers with the bits of `predict`, and with one sentence where it cannot."""

import asyncio
import json
import shutil
import signal
import socket
import threading
import time

import httpx2 as httpx
import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from tests.forked import COMMAND, Forked
from tests.service.conftest import table

import smilenn
from smilenn import Robust, SmileClassifier
from smilenn.errors import SmileError
from smilenn.service import batching
from smilenn.service.app import Limits, Service, application
from smilenn.service.interface import answer_schema, row_schema
from smilenn.service.rows import Answers, Reader
from smilenn.service.run import Reloads, bound
from smilenn.service.served import Served

GOOD = {"income": 43.6, "years": 14, "member": 1, "region": "north", "race": "b"}


@pytest.fixture(scope="module")
def regressor(regressor_folder):
    return Served.load(regressor_folder)


@pytest.fixture(scope="module")
def classifier(classifier_folder):
    return Served.load(classifier_folder)


@pytest.fixture
def client(regressor):
    with TestClient(application(Service(regressor, Limits()))) as found:
        yield found


def test_answers_are_the_bits_of_predict(client, regressor):
    frame, _ = table()
    rows = frame.iloc[:50].to_dict("records")
    found = client.post("/predict", json={"rows": rows}).json()["predictions"]
    assert [one["prediction"] for one in found] == regressor.estimator.predict(frame.iloc[:50]).tolist()
    assert all(one["moved"] == [] for one in found)
    single = [client.post("/predict", json={"rows": [row]}).json()["predictions"][0]["prediction"] for row in rows[:9]]
    assert single == [one["prediction"] for one in found[:9]]


@pytest.mark.parametrize(
    ("rule", "name", "unit"),
    [
        (Robust(0.2, norm=2), "radius_2", "raw"),
        (Robust(0.1, steps=10), "radius", "raw"),
        (Robust("5%", norm=2), "radius_2_in_deltas", "delta"),
    ],
)
def test_robust_classes_say_whether_they_are_accepted_and_how_far_they_may_move(rule, name, unit):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    x = pd.DataFrame(rng.normal(size=(90, 3)) * [0.2, 0.2, 0.4] + y[:, None], columns=["a", "b", "c"])
    model = SmileClassifier(properties=rule, random_state=0).fit(x, y)
    outputs = model.outputs(x)
    found = Answers(model).of(outputs, [[]] * 90)
    radius = model.certified_radius(x, norm=2 if rule.norm == 2 else "inf", unit=unit)
    assert [one["accepted"] for one in found] == (model.predict_or_reject(x) != -1).tolist()
    assert [one[name] for one in found] == radius.tolist() and radius.max() > 0
    assert set(found[0]) == {"prediction", "probability", "certified", "accepted", name, "moved"}


def test_the_interface_says_which_class_a_probability_is_of(classifier, monkeypatch):
    for positive in classifier.estimator.outputs_.classes:
        monkeypatch.setattr(type(classifier.estimator), "positive_class", positive)
        probability = answer_schema(classifier)["properties"]["probability"]
        assert probability["description"] == f"Of the class {positive!r}." and probability["type"] == "number"


def test_classes_have_probability_and_whether_the_label_is_certified(classifier):
    frame, _ = table()
    model = classifier.estimator
    with TestClient(application(Service(classifier, Limits()))) as client:
        found = client.post("/predict", json={"rows": frame.iloc[:40].to_dict("records")}).json()["predictions"]
        lacking = client.post("/predict", json={"rows": [GOOD | {"income": None}]}).json()["predictions"][0]
    labels, certified = model.predict_certified(frame.iloc[:40])
    assert [one["prediction"] for one in found] == labels.tolist()
    assert [one["certified"] for one in found] == certified.tolist()
    assert [one["accepted"] for one in found] == (model.predict_or_reject(frame.iloc[:40]) != "rejected").tolist()
    assert [one["probability"] for one in found] == model.predict_proba(frame.iloc[:40])[:, 1].tolist()
    filled = pd.DataFrame([GOOD]).assign(income=np.nan)
    assert lacking["probability"] == model.predict_proba(filled)[0, 1]


CELLS = [1, 0, -3, 2.5, 7.0, 1e300, -0.0, 10**17, True, False, None, "7", "7.5", "north", "b", " north", "", "NaN"]
CELLS += [float("nan"), float("inf"), 2**53, 2**53 - 1, [1], {"a": 1}, "östlich"]


@pytest.mark.parametrize("name", list(GOOD))
def test_the_quick_way_reads_what_a_data_frame_reads(regressor, name):
    reader, model = Reader(regressor.estimator), regressor.estimator
    quick = 0
    for cell in CELLS:
        row = GOOD | {name: cell}
        found = reader._quick(row)
        if found is None:
            continue
        quick += 1
        assert found.tolist() == model.read_rows(pd.DataFrame([row])).tolist()[0]
    assert quick or name == "region"


def test_cells_that_are_not_clean_get_the_sentence_of_predict(client, regressor):
    refused = 0
    for name in GOOD:
        for cell in CELLS:
            if isinstance(cell, (list, dict)) or (isinstance(cell, bool) and name in ("income", "years")):
                continue  # no cells of a table; `BAD` has their sentences
            row = GOOD | {name: cell}
            answer = client.post("/predict", content=json.dumps({"rows": [GOOD, row]}))
            try:  # cells that training has no place for are refused here, where `predict` warns
                regressor.estimator.read_rows(pd.DataFrame([row]))
                wanted = regressor.estimator.predict(pd.DataFrame([row]))
            except (SmileError, TypeError) as error:
                refused += 1
                assert answer.status_code == 422
                assert answer.json()["detail"].replace("Row 1", "Row 0") == str(error)
            else:
                assert answer.json()["predictions"][1]["prediction"] == wanted[0]
    assert refused > 30


def test_rows_outside_the_domain_are_moved_and_said_so(client, regressor):
    row = GOOD | {"income": 1e6, "years": 500}
    found = client.post("/predict", json={"rows": [row, GOOD]}).json()["predictions"]
    assert found[0]["moved"] == ["income", "years"] and found[1]["moved"] == []
    assert found[0]["prediction"] == regressor.estimator.predict(pd.DataFrame([row]))[0]
    assert "smilenn_rows_moved_total 1.0" in client.get("/metrics").text


BAD = [
    ({"rows": [{**GOOD, "wage": 3}]}, 422, "has 'wage', which is not a column of the model"),
    ({"rows": [{k: v for k, v in GOOD.items() if k != "race"}]}, 422, "Row 0 lacks 'race'; give every column."),
    ({"rows": [GOOD | {"region": "west"}]}, 422, "unknown category 'west'"),
    ({"rows": [GOOD | {"years": 3.5}]}, 422, "must be a whole number"),
    ({"rows": [GOOD | {"income": None}]}, 422, "is missing"),
    ({"rows": [3]}, 422, "is not an object"),
    ({"rows": []}, 422, "has no row; give at least one"),
    ({"rows": [GOOD] * 101}, 422, "A request has at most 100 rows, not 101; send them in parts."),
    ({"rows": [GOOD, GOOD | {"income": True}]}, 422, "Row 1, column 'income' holds a truth value; give a number."),
    ({"rows": [GOOD | {"years": False}]}, 422, "column 'years' holds a truth value; give a number."),
    ({"rows": [GOOD | {"income": [1]}]}, 422, "column 'income' holds a list; give one number."),
    ({"rows": [GOOD | {"region": {}}]}, 422, "column 'region' holds an object; give one value."),
    ({"rows": [GOOD | {"income": 10**400}]}, 422, "column 'income' is inf; give a finite number."),
    ({"rows": [GOOD | {"years": -(10**400)}]}, 422, "column 'years' is -inf; give a finite number."),
    ({"rows": [GOOD | {"income": "north"}]}, 422, "holds the text 'north' among numbers"),
    ({"row": GOOD}, 422, "A request is"),
    ([GOOD], 422, "A request is"),
    ({"rows": GOOD}, 422, "A request is"),
]


@pytest.mark.parametrize(("body", "status", "words"), BAD)
def test_bad_requests_get_one_sentence(regressor, body, status, words):
    with TestClient(application(Service(regressor, Limits(rows=100)))) as client:
        answer = client.post("/predict", json=body)
        assert answer.status_code == status and words in answer.json()["detail"]
        assert client.post("/predict", json={"rows": [GOOD]}).status_code == 200


def test_bodies_that_are_no_json_or_too_large(regressor):
    with TestClient(application(Service(regressor, Limits(body=2000)))) as client:
        assert client.post("/predict", content=b"{").status_code == 400
        assert client.post("/predict", content=b"[" * 1500).status_code == 400
        assert client.post("/predict", content=b"\xff\xfe").status_code == 400
        large = client.post("/predict", content=b" " * 3000)
        assert large.status_code == 413 and "2000 bytes" in large.json()["detail"]
        assert client.get("/nowhere").status_code == 404 and client.get("/predict").status_code == 405


def test_a_body_that_does_not_arrive_is_answered_in_time(regressor):
    service = application(Service(regressor, Limits(seconds=0.05)))
    sent, first = [], [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive():
        if first:
            return first.pop()
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/predict", "raw_path": b"/predict", "query_string": b""}
    scope |= {"headers": [], "http_version": "1.1", "scheme": "http", "root_path": ""}
    asyncio.run(asyncio.wait_for(service(scope, receive, send), 60))
    assert sent[0]["status"] == 408 and (b"connection", b"close") in sent[0]["headers"]
    assert "did not arrive within 0.05 seconds" in json.loads(sent[1]["body"])["detail"]


def test_what_nobody_foresaw_is_one_sentence_and_counted(regressor, monkeypatch):
    def broken(*_):
        raise OverflowError("int too large")

    service = Service(regressor, Limits())
    with TestClient(application(service), raise_server_exceptions=True) as client:
        monkeypatch.setattr(service.served.reader, "read", broken)
        answer = client.post("/predict", json={"rows": [GOOD]})
        assert answer.status_code == 500 and answer.json()["detail"].startswith("The service failed on this request;")
        assert 'smilenn_requests_total{path="/predict",status="500"} 1.0' in client.get("/metrics").text


def test_unknown_paths_share_one_counter(regressor):
    with TestClient(application(Service(regressor, Limits()), token="secret")) as client:
        for number in range(20):
            assert client.get(f"/guess/{number}").status_code == 401
        assert client.get("/nowhere", headers={"Authorization": "Bearer secret"}).status_code == 404
        counts = client.get("/metrics", headers={"Authorization": "Bearer secret"}).text
    assert "guess" not in counts and 'path="other",status="401"} 20.0' in counts


def test_a_token_is_asked_for_everywhere_but_for_health_and_the_empty_pages(regressor):
    with TestClient(application(Service(regressor, Limits()), token="secret")) as client:
        assert client.post("/predict", json={"rows": [GOOD]}).status_code == 401
        for path in ("/model", "/certificate", "/card", "/metrics", "/openapi.json"):
            assert client.get(path).status_code == 401
        wrong = client.get("/model", headers={"Authorization": "Bearer secreT"})
        assert wrong.status_code == 401 and "Bearer" in wrong.headers["WWW-Authenticate"]
        assert client.get("/model", headers={"Authorization": "Bearer secret"}).status_code == 200
        assert client.get("/health").status_code == 200
        for path in ("/", "/docs"):
            page = client.get(path)
            assert page.status_code == 200 and "smilenn" in page.text and "income" not in page.text
            assert "http" not in page.text.replace("http://www.w3.org/2000/svg", "")  # a name, which nobody fetches
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]


def test_papers(client, regressor):
    found = client.get("/certificate").json()
    assert found["certified"] and found["statement"] == regressor.estimator.certificate_.statement
    assert client.get("/card").text == regressor.card and "# regressor" in client.get("/card").text
    assert client.get("/health").json()["digest"] == regressor.digest
    described = client.get("/model").json()
    assert described["verdict"] == "Certified" and described["rules"][0]["certified"]
    assert described["middle"].keys() == GOOD.keys()
    answer = client.post("/predict", json={"rows": [described["middle"]]})
    assert answer.status_code == 200
    schema = client.get("/openapi.json").json()["paths"]["/predict"]["post"]["requestBody"]["content"]
    columns = schema["application/json"]["schema"]["properties"]["rows"]["items"]["properties"]
    assert columns["region"] == {"type": "string", "enum": ["east", "north", "south"]}
    assert columns["years"]["type"] == ["integer", "string"] and columns["income"]["minimum"] < 11


@pytest.mark.parametrize("feature", list(GOOD))
def test_curves_are_predictions(client, regressor, feature):
    found = client.post("/curve", json={"row": GOOD, "feature": feature}).json()
    frame = pd.DataFrame([GOOD | {feature: value} for value in found["at"]])
    if feature in ("years", "member"):
        frame[feature] = frame[feature].astype(int)
    assert regressor.estimator.predict(frame).tolist() == found["output"]
    assert all(low <= f <= high for low, f, high in zip(found["low"], found["output"], found["high"], strict=True))


def test_the_closest_pair_is_a_pair_of_the_rule(client):
    found = client.post("/near", json={"row": GOOD, "number": 0}).json()
    assert found["found"] and found["room"] >= 0 and len(found["rows"]) == 2
    assert client.post("/near", json={"row": GOOD, "number": 7}).status_code == 422
    answer = client.post("/near", json={"row": GOOD})
    assert answer.status_code == 422 and answer.json()["detail"] == "This request needs 'number', 'row'."
    assert client.post("/curve", json={"row": GOOD, "feature": "wage"}).status_code == 422


def test_requests_that_meet_are_predicted_together():
    sizes, calls = [], []

    def predict(x):
        calls.append(len(x))
        time.sleep(0.02)
        return x * 2

    async def many():
        batcher = batching.Batcher(predict, sizes.append)
        rows = [np.full((k % 3 + 1, 2), float(k)) for k in range(30)]
        found = await asyncio.gather(*(batcher(x) for x in rows))
        for x, y in zip(rows, found, strict=True):
            assert (y == x * 2).all()
        batcher.close()

    asyncio.run(many())
    assert sum(sizes) == 60 and len(calls) < 10


def test_a_batch_that_fails_is_told_to_all_of_it_and_the_next_one_is_fine():
    def predict(x):
        if (x < 0).any():
            raise SmileError("No.")
        return x

    async def both():
        batcher = batching.Batcher(predict, lambda rows: None)
        with pytest.raises(SmileError):
            await batcher(np.full((1, 1), -1.0))
        assert (await batcher(np.ones((1, 1)))).tolist() == [[1.0]]
        gone = asyncio.create_task(batcher(np.ones((1, 1))))
        await asyncio.sleep(0)
        gone.cancel()
        assert (await batcher(np.ones((2, 1)))).tolist() == [[1.0], [1.0]]
        batcher.close()

    asyncio.run(both())


def test_too_many_waiting_rows_and_slow_predictions(regressor, monkeypatch):
    service = Service(regressor, Limits(seconds=0.05))
    with TestClient(application(service)) as client:
        monkeypatch.setattr(batching, "MOST_WAITING", 0)
        assert client.post("/predict", json={"rows": [GOOD]}).status_code == 503
        monkeypatch.setattr(batching, "MOST_WAITING", 100)
        monkeypatch.setattr(batching, "FEW", 0)
        service.batcher._predict = lambda x: time.sleep(0.3)  # type: ignore[assignment,return-value]
        assert client.post("/predict", json={"rows": [GOOD]}).status_code == 504


def test_a_model_is_exchanged_between_requests(regressor, classifier):
    service = Service(regressor, Limits())
    with TestClient(application(service)) as client:
        before = client.post("/predict", json={"rows": [GOOD]}).json()
        service.replace(classifier)
        after = client.post("/predict", json={"rows": [GOOD]}).json()
    assert isinstance(before["predictions"][0]["prediction"], float)
    assert after["predictions"][0]["prediction"] in ("yes", "no")


def test_the_interface_is_that_of_the_model_that_answers_now(regressor, tmp_path):
    frame, score = table()
    model = smilenn.SmileRegressor(increasing=["income"], config=smilenn.Config(epochs=1), random_state=0)
    model.fit(frame[["income"]], score).save(tmp_path / "other")
    service, found = Service(regressor, Limits()), []
    with TestClient(application(service)) as client:
        for served in (regressor, Served.load(tmp_path / "other")):
            service.replace(served)
            interface = client.get("/openapi.json").json()
            content = interface["paths"]["/predict"]["post"]["requestBody"]["content"]
            assert content["application/json"]["schema"]["properties"]["rows"]["items"] == row_schema(served)
            found.append((interface["info"]["title"], set(row_schema(served)["properties"])))
    assert found == [("smilenn: regressor", set(GOOD)), ("smilenn: other", {"income"})]


def test_the_interface_says_what_may_be_missing_what_is_answered_and_how_it_is_refused(classifier):
    with TestClient(application(Service(classifier, Limits()), token="secret")) as client:
        found = client.get("/openapi.json", headers={"Authorization": "Bearer secret"}).json()
    post = found["paths"]["/predict"]["post"]
    rows = post["requestBody"]["content"]["application/json"]["schema"]["properties"]["rows"]
    assert rows["minItems"] == 1 and rows["maxItems"] == Limits().rows
    columns = rows["items"]["properties"]
    assert columns["income"]["type"] == ["number", "string", "null"] and None in columns["region"]["enum"]
    assert set(post["responses"]) == {"200", "400", "401", "408", "413", "422", "500", "503", "504"}
    answer = post["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["predictions"]["items"]
    assert set(answer["required"]) == {"prediction", "probability", "certified", "accepted", "moved"}
    assert found["components"]["securitySchemes"]["bearerAuth"] == {"type": "http", "scheme": "bearer"}
    assert post["security"] == [{"bearerAuth": []}] and "security" not in found["paths"]["/health"]["get"]
    assert set(found["paths"]["/health"]["get"]["responses"]) == {"200"}


def test_columns_whose_cells_may_be_missing_are_told_and_their_curve_is_of_known_values(classifier):
    with TestClient(application(Service(classifier, Limits()))) as client:
        columns = {c["name"]: c["missing"] for c in client.get("/model").json()["columns"]}
        assert columns["income"]
        found = client.post("/curve", json={"row": GOOD | {"income": None}, "feature": "income"}).json()
        assert found == client.post("/curve", json={"row": GOOD, "feature": "income"}).json()


def test_the_curve_of_a_number_with_an_indicator_is_of_known_values(tmp_path):
    """An indicator was looked up by the first letter of its name: an internal error, or column 'i' set to 0."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(10, 100, 60), "i": rng.uniform(1, 2, 60)})
    score = frame["income"] + 90 * frame["i"]
    model = smilenn.SmileRegressor(config=smilenn.Config(epochs=2), network=smilenn.Network(members=1), random_state=0)
    model.fit(frame.mask(frame["income"] < 15), score).save(tmp_path / "model")
    row = {"income": None, "i": 1.5}
    with TestClient(application(Service(Served.load(tmp_path / "model"), Limits()))) as client:
        found = client.post("/curve", json={"row": row, "feature": "income"}).json()
    known = pd.DataFrame({"income": found["at"], "i": 1.5})
    assert found["output"] == model.predict(known).tolist()


def test_an_altered_folder_is_not_served(regressor_folder, tmp_path):
    folder = tmp_path / "altered"
    shutil.copytree(regressor_folder, folder)
    weights = next(folder.glob("*.safetensors"))
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(bytes(data))
    with pytest.raises(SmileError):
        Served.load(folder)


def test_a_port_in_use_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SmileError, match=r"cannot be had .* choose another --port"):
            bound("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(SmileError, match="cannot be had"):
        bound("no.such.host.invalid", 80)


def test_every_request_to_reload_ends_in_one_line_and_the_end_waits_for_it(regressor, monkeypatch):
    said, loading, go = [], threading.Event(), threading.Event()

    def load(_):
        loading.set()
        go.wait(60)
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(Served, "load", load)
    reloads = Reloads(Service(regressor, Limits()), said.append)
    reloads.ask()
    assert loading.wait(60)
    reloads.ask()
    ending = threading.Thread(target=reloads.close)
    ending.start()
    while not reloads._ended:
        time.sleep(0.01)
    assert ending.is_alive() and said == []
    go.set()
    ending.join(60)
    assert said == [
        "The model was not exchanged: RuntimeError: the disk is gone",
        "The model was not exchanged: the service is ending.",
    ]


def test_the_command_serves_exchanges_and_ends_when_told(regressor_folder):
    with Forked(COMMAND, "serve", regressor_folder, "--port", 0) as process:
        _follow(process, regressor_folder)


def _follow(process, folder):
    line = process.stdout.readline()
    assert line.startswith("Certified: serving 'regressor' at http://127.0.0.1:")
    with httpx.Client(base_url=line.split(" at ")[1].split()[0], timeout=60) as client:
        wanted = smilenn.load(folder).predict(pd.DataFrame([GOOD]))[0]
        assert client.post("/predict", json={"rows": [GOOD]}).json()["predictions"][0]["prediction"] == wanted
        process.send_signal(signal.SIGHUP)
        assert "now serving" in process.stdout.readline()
        assert client.post("/predict", json={"rows": [GOOD]}).json()["predictions"][0]["prediction"] == wanted
    process.send_signal(signal.SIGHUP)
    time.sleep(0.2)  # so that it is being loaded
    process.send_signal(signal.SIGTERM)
    assert process.wait(90) == 0
    last = process.stdout.read().splitlines()
    assert len(last) == 1 and ("now serving" in last[0] or "was not exchanged" in last[0])
