(* Strict JSON (section 6): no duplicate keys, NaN or Infinity, numbers of at most 400 characters that a float can hold,
   at most 64 levels. A number with a point or an exponent is a float, any other a whole number. *)

(* a float: its exact value m·2^e, its IEEE 754 bits, its characters *)
type real = { mantissa : Z.t; exponent : int; bits : Z.t; text : string }

type t =
  | Null
  | Bool of bool
  | Int of Z.t
  | Real of real
  | Text of string
  | List of t list
  | Object of (string * t) list

exception Bad of string

let two_53 = Z.shift_left Z.one 53
let overflow = Z.sub (Z.shift_left Z.one 1024) (Z.shift_left Z.one 970)

(* the float m·2^e nearest to n/d > 0, halves to even; e may be too large for one *)
let nearest n d =
  let shift a k = if k >= 0 then Z.shift_left a k else a in
  let rec go e =
    let over = shift d e in
    let m, rest = Z.div_rem (shift n (-e)) over in
    if Z.lt m two_53 then (m, rest, over, e) else go (e + 1)
  in
  let m, rest, over, e = go (max (Z.numbits n - Z.numbits d - 53) (-1074)) in
  let twice = Z.shift_left rest 1 in
  let c = Z.compare twice over in
  let m = if c > 0 || (c = 0 && Z.is_odd m) then Z.succ m else m in
  if Z.equal m two_53 then (Z.shift_right m 1, e + 1) else (m, e)

let real text =
  if String.length text > 400 then raise (Bad "a number is too long or too large");
  let negative = text.[0] = '-' in
  let lower = String.lowercase_ascii (if negative then String.sub text 1 (String.length text - 1) else text) in
  let mantissa, power =
    match String.index_opt lower 'e' with
    | None -> (lower, Z.zero)
    | Some i ->
      let p = String.sub lower (i + 1) (String.length lower - i - 1) in
      (String.sub lower 0 i, Z.of_string (if p.[0] = '+' then String.sub p 1 (String.length p - 1) else p))
  in
  let before, after =
    match String.index_opt mantissa '.' with
    | None -> (mantissa, "")
    | Some i -> (String.sub mantissa 0 i, String.sub mantissa (i + 1) (String.length mantissa - i - 1))
  in
  let digits = Z.of_string (before ^ after) in
  let ten = Z.sub power (Z.of_int (String.length after)) in
  let size = Z.add (Z.of_int (String.length (Z.to_string digits))) ten in
  let zero = Z.sign digits = 0 in
  if (not zero) && Z.gt size (Z.of_int 310) then raise (Bad "a number is too long or too large");
  let n, e =
    if zero || Z.leq size (Z.of_int (-330)) then (Z.zero, -1074)
    else
      let ten = Z.to_int ten in
      nearest (Z.mul digits (Z.pow (Z.of_int 10) (max ten 0))) (Z.pow (Z.of_int 10) (max (-ten) 0))
  in
  if Z.numbits n + e > 1024 then raise (Bad "a number is too long or too large");
  let hidden = Z.shift_left Z.one 52 in
  let field = if Z.geq n hidden then e + 1075 else 0 in
  let bits = Z.logor (Z.shift_left (Z.of_int field) 52) (Z.logand n (Z.pred hidden)) in
  let bits = if negative then Z.logor bits (Z.shift_left Z.one 63) else bits in
  { mantissa = (if negative then Z.neg n else n); exponent = e; bits; text }

(* whether the bytes from i to the end are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF *)
let check_utf8 s =
  let n = String.length s in
  let byte i = if i < n then Char.code (String.unsafe_get s i) else -1 in
  let tail i = byte i land 0xc0 = 0x80 && byte i >= 0 in
  let bad () = raise (Bad "it is not UTF-8") in
  let rec go i =
    if i < n then
      let b = byte i in
      if b < 0x80 then go (i + 1)
      else if b < 0xc2 then bad ()
      else if b < 0xe0 then if tail (i + 1) then go (i + 2) else bad ()
      else if b < 0xf0 then
        let c = byte (i + 1) in
        if tail (i + 1) && tail (i + 2) && (b <> 0xe0 || c >= 0xa0) && (b <> 0xed || c < 0xa0) then go (i + 3) else bad ()
      else if b < 0xf5 then
        let c = byte (i + 1) in
        if tail (i + 1) && tail (i + 2) && tail (i + 3) && (b <> 0xf0 || c >= 0x90) && (b <> 0xf4 || c < 0x90) then go (i + 4)
        else bad ()
      else bad ()
  in
  go 0

let parse_string s =
  check_utf8 s;
  let n = String.length s in
  let pos = ref 0 in
  let bad reason = raise (Bad (Printf.sprintf "%s at byte %d" reason !pos)) in
  let peek () = if !pos < n then s.[!pos] else '\000' in
  let rec space () =
    if !pos < n then match s.[!pos] with ' ' | '\t' | '\n' | '\r' -> incr pos; space () | _ -> ()
  in
  let literal word value =
    let l = String.length word in
    if !pos + l <= n && String.sub s !pos l = word then (pos := !pos + l; value) else bad "an unknown value"
  in
  let hex4 () =
    if !pos + 4 > n then bad "an escape is cut short";
    let v = ref 0 in
    for i = 0 to 3 do
      let d = match s.[!pos + i] with
        | '0' .. '9' as c -> Char.code c - 48
        | 'a' .. 'f' as c -> Char.code c - 87
        | 'A' .. 'F' as c -> Char.code c - 55
        | _ -> bad "an escape is malformed" in
      v := (!v * 16) + d
    done;
    pos := !pos + 4;
    !v
  in
  let text () =
    let buffer = Buffer.create 16 in
    incr pos;
    let rec go () =
      if !pos >= n then bad "a text has no end";
      match s.[!pos] with
      | '"' -> incr pos
      | '\\' ->
        incr pos;
        let c = peek () in
        if !pos >= n then bad "a text has no end";
        incr pos;
        (match c with
        | '"' | '\\' | '/' -> Buffer.add_char buffer c
        | 'b' -> Buffer.add_char buffer '\b'
        | 'f' -> Buffer.add_char buffer '\012'
        | 'n' -> Buffer.add_char buffer '\n'
        | 'r' -> Buffer.add_char buffer '\r'
        | 't' -> Buffer.add_char buffer '\t'
        | 'u' ->
          let c = hex4 () in
          if c >= 0xd800 && c < 0xdc00 && !pos + 6 <= n && s.[!pos] = '\\' && s.[!pos + 1] = 'u' then (
            let back = !pos in
            pos := !pos + 2;
            let d = hex4 () in
            if d >= 0xdc00 && d < 0xe000 then
              Words.add_utf8 buffer (0x10000 + ((c - 0xd800) lsl 10) + (d - 0xdc00))
            else (pos := back; Words.add_utf8 buffer c))
          else Words.add_utf8 buffer c
        | _ -> bad "an unknown escape");
        go ()
      | c when Char.code c < 0x20 -> bad "a control character in a text"
      | c -> Buffer.add_char buffer c; incr pos; go ()
    in
    go ();
    Buffer.contents buffer
  in
  let number () =
    let from = !pos in
    let digit () = match peek () with '0' .. '9' when !pos < n -> true | _ -> false in
    let digits () = if not (digit ()) then bad "a malformed number"; while digit () do incr pos done in
    if peek () = '-' then incr pos;
    if peek () = '0' && !pos < n then incr pos else digits ();
    let whole = !pos in
    (* a point or an exponent counts only with the digits that belong to it, as in other readers; what is left is extra *)
    if peek () = '.' && !pos + 1 < n && (match s.[!pos + 1] with '0' .. '9' -> true | _ -> false) then (incr pos; digits ());
    (match peek () with
    | 'e' | 'E' when !pos < n ->
      let back = !pos in
      incr pos;
      (match peek () with '+' | '-' -> incr pos | _ -> ());
      if digit () then digits () else pos := back
    | _ -> ());
    let text = String.sub s from (!pos - from) in
    if !pos > whole then Real (real text)
    else if String.length text > 400 then raise (Bad "a number is too long or too large")
    else
      let v = Z.of_string text in
      if Z.geq (Z.abs v) overflow then raise (Bad "a number is too long or too large") else Int v
  in
  let rec value depth =
    if !pos >= n then bad "it ends early";
    match s.[!pos] with
    | '{' -> nested depth; incr pos; Object (members depth)
    | '[' -> nested depth; incr pos; List (entries depth)
    | '"' -> Text (text ())
    | 'n' -> literal "null" Null
    | 't' -> literal "true" (Bool true)
    | 'f' -> literal "false" (Bool false)
    | '-' | '0' .. '9' -> number ()
    | _ -> bad "an unknown value"
  and nested depth = if depth >= 64 then raise (Bad "it is nested too deeply")
  and entries depth =
    space ();
    if peek () = ']' && !pos < n then (incr pos; [])
    else
      let rec go acc =
        space ();
        let v = value (depth + 1) in
        space ();
        match peek () with
        | ',' -> incr pos; go (v :: acc)
        | ']' -> incr pos; List.rev (v :: acc)
        | _ -> bad "a list is malformed"
      in
      go []
  and members depth =
    let seen = Hashtbl.create 16 in
    space ();
    if peek () = '}' && !pos < n then (incr pos; [])
    else
      let rec go acc =
        space ();
        if peek () <> '"' then bad "a key is not a text";
        let key = text () in
        if Hashtbl.mem seen key then raise (Bad "a key appears twice");
        Hashtbl.add seen key ();
        space ();
        if peek () <> ':' then bad "a key has no value";
        incr pos;
        space ();
        let v = value (depth + 1) in
        space ();
        match peek () with
        | ',' -> incr pos; go ((key, v) :: acc)
        | '}' -> incr pos; List.rev ((key, v) :: acc)
        | _ -> bad "an object is malformed"
      in
      go []
  in
  space ();
  let v = value 0 in
  space ();
  if !pos <> n then bad "something follows the value";
  v

let parse name s =
  try parse_string s with Bad reason -> raise (Report.Unreadable (name ^ " is not readable JSON: " ^ reason))

(* ---- what a value is ---- *)
let member key = function Object l -> List.assoc_opt key l | _ -> None
let is_object keys = function
  | Object l -> List.length l = List.length keys && List.for_all (fun k -> List.mem_assoc k l) keys
  | _ -> false
let get key v = match member key v with Some x -> x | None -> Report.refuse ("there is no " ^ key)
let texts = function
  | List l -> if List.for_all (function Text _ -> true | _ -> false) l
    then Some (List.map (function Text t -> t | _ -> "") l) else None
  | _ -> None
let size = function Int z when Z.sign z >= 0 && Z.fits_int z -> Some (Z.to_int z) | _ -> None
let sizes = function
  | List l ->
    let found = List.filter_map size l in
    if List.length found = List.length l then Some found else None
  | _ -> None

(* ---- the encoding of which digests are taken ---- *)
let rec encode buffer v =
  let add = Buffer.add_string buffer in
  match v with
  | Null -> add "n"
  | Bool true -> add "t"
  | Bool false -> add "f"
  | Int z -> add "i"; add (Z.to_string z); add ";"
  | Real r -> add "d"; add (Z.format "%016x" r.bits)
  | Text t -> encode_text buffer t
  | List l -> add "["; List.iter (encode buffer) l; add "]"
  | Object l ->
    add "{";
    List.iter (fun (k, v) -> encode_text buffer k; encode buffer v) (List.sort (fun (a, _) (b, _) -> compare a b) l);
    add "}"

and encode_text buffer t =
  if not (Words.whole_characters t) then Report.refuse "a text holds half a character";
  Buffer.add_string buffer (Printf.sprintf "s%d:%s" (String.length t) t)

let encoded v = let b = Buffer.create 1024 in encode b v; Buffer.contents b
