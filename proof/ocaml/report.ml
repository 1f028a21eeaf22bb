(* The answer: a verdict with its reason, or the claims with their rows, printed as check.py prints them. *)
exception Refused of string
exception Unreadable of string
exception Uncovered of string

let refuse reason = raise (Refused reason)
let need condition reason = if not condition then refuse reason
let uncovered what = raise (Uncovered what)

type row = { text : string; rule : string; rhs : Q.t }
type claim = { formula : string; sentence : string; rows : row list }
type t = {
  status : string;
  reason : string;
  certificate : string;
  profile : string;
  domain : string list;
  claims : claim list;
  meaning : string list;
  manifest : string;
}

let empty status reason =
  { status; reason; certificate = ""; profile = ""; domain = []; claims = []; meaning = []; manifest = "" }

let exit_code r = match r.status with "certified" -> 0 | "refused" -> 1 | "unreadable" -> 2 | _ -> 3

(* every row here is proved by the order rule, with bound 0, margin 0 and no room: its right side is not negative *)
let row_line row = Printf.sprintf "%s: holds (left side ≤ 0 + 0 rounding; %s rule)" row.text row.rule

let lines r =
  if r.claims = [] then [ Printf.sprintf "%s: %s" r.status r.reason ]
  else
    let claim number c =
      (Printf.sprintf "claim %d: %s" (number + 1) c.formula
      :: (if c.sentence = "" then [] else [ "  comment, not checked: " ^ Words.quoted c.sentence ]))
      @ List.map (fun row -> "  " ^ row_line row) c.rows
    in
    (Printf.sprintf "%s (profile %s, certificate %s…)" r.status r.profile (String.sub r.certificate 0 16)
    :: "inputs X:"
    :: List.map (fun line -> "  " ^ line) r.domain)
    @ (if r.meaning = [] then []
      else "outputs, as stored:" :: List.map (fun text -> "  " ^ Words.quoted text) r.meaning)
    @ List.concat (List.mapi claim r.claims)

let text r = String.concat "" (List.map (fun line -> Words.printable line ^ "\n") (lines r))

let json r =
  let str = Words.ascii_json in
  let list f l = "[" ^ String.concat ", " (List.map f l) ^ "]" in
  let obj pairs = "{" ^ String.concat ", " (List.map (fun (k, v) -> str k ^ ": " ^ v) pairs) ^ "}" in
  let zero = str (Words.hexadecimal Q.zero) in
  let row r =
    obj [ ("text", str r.text); ("rule", str r.rule); ("bound", zero); ("margin", zero);
          ("rhs", str (Words.hexadecimal r.rhs)); ("room", zero) ]
  in
  let claim c = obj [ ("formula", str c.formula); ("sentence", str c.sentence); ("rows", list row c.rows) ] in
  obj [ ("status", str r.status); ("reason", str r.reason); ("certificate", str r.certificate);
        ("profile", str r.profile); ("domain", list str r.domain); ("claims", list claim r.claims); ("version", "2");
        ("meaning", list str r.meaning); ("manifest", str r.manifest) ]
