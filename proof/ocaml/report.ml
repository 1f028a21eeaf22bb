(* The answer: a verdict with its reason, or the claims with their rows, printed as check.py prints them. *)
exception Refused of string
exception Unreadable of string
exception Uncovered of string

let refuse reason = raise (Refused reason)
let need condition reason = if not condition then refuse reason
let uncovered what = raise (Uncovered what)

(* [room]: what counts of it *)
type row = { text : string; rule : string; bound : Q.t; margin : Q.t; rhs : Q.t; room : Q.t; holds : bool }
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

let excess row = Q.sub (Q.add row.bound row.margin) row.rhs

let row_line row =
  let over = Words.decimal (excess row) in
  let word =
    if not row.holds then Printf.sprintf "NOT SHOWN, up to %s too large" over
    else if Q.sign (excess row) <= 0 then "holds"
    else Printf.sprintf "holds up to %s, for rounding" over in
  Printf.sprintf "%s: %s (left side ≤ %s + %s rounding; %s rule)" row.text word (Words.decimal row.bound) (Words.decimal row.margin) row.rule

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
    @
    if r.status <> "unknown" then []
    else
      let over = List.concat_map (fun c -> List.map excess c.rows) r.claims in
      [ "not certified: checked bound on the violation " ^ Words.decimal (List.fold_left Q.max (List.hd over) over) ]

let text r = String.concat "" (List.map (fun line -> Words.printable line ^ "\n") (lines r))

let json r =
  let str = Words.ascii_json in
  let list f l = "[" ^ String.concat ", " (List.map f l) ^ "]" in
  let obj pairs = "{" ^ String.concat ", " (List.map (fun (k, v) -> str k ^ ": " ^ v) pairs) ^ "}" in
  let number q = str (Words.hexadecimal q) in
  let row r =
    obj [ ("text", str r.text); ("rule", str r.rule); ("bound", number r.bound); ("margin", number r.margin);
          ("rhs", number r.rhs); ("room", number r.room) ]
  in
  let claim c = obj [ ("formula", str c.formula); ("sentence", str c.sentence); ("rows", list row c.rows) ] in
  obj [ ("status", str r.status); ("reason", str r.reason); ("certificate", str r.certificate);
        ("profile", str r.profile); ("domain", list str r.domain); ("claims", list claim r.claims); ("version", "2");
        ("meaning", list str r.meaning); ("manifest", str r.manifest) ]
