(* Texts. A text is a string of UTF-8 in which half a surrogate pair, as an escape can write it, takes three bytes. *)

(* code points of a text that the reader of JSON has made, so that every sequence is complete *)
let code_points text =
  let n = String.length text in
  let byte i = Char.code text.[i] in
  let rec go i acc =
    if i >= n then List.rev acc
    else
      let b = byte i in
      if b < 0x80 then go (i + 1) (b :: acc)
      else if b < 0xe0 then go (i + 2) ((((b land 0x1f) lsl 6) lor (byte (i + 1) land 0x3f)) :: acc)
      else if b < 0xf0 then
        go (i + 3) ((((b land 0x0f) lsl 12) lor ((byte (i + 1) land 0x3f) lsl 6) lor (byte (i + 2) land 0x3f)) :: acc)
      else
        let c = ((b land 0x07) lsl 18) lor ((byte (i + 1) land 0x3f) lsl 12) lor ((byte (i + 2) land 0x3f) lsl 6) in
        go (i + 4) ((c lor (byte (i + 3) land 0x3f)) :: acc)
  in
  go 0 []

let add_utf8 buffer c =
  let add v = Buffer.add_char buffer (Char.chr v) in
  if c < 0x80 then add c
  else if c < 0x800 then (add (0xc0 lor (c lsr 6)); add (0x80 lor (c land 0x3f)))
  else if c < 0x10000 then (
    add (0xe0 lor (c lsr 12)); add (0x80 lor ((c lsr 6) land 0x3f)); add (0x80 lor (c land 0x3f)))
  else (
    add (0xf0 lor (c lsr 18)); add (0x80 lor ((c lsr 12) land 0x3f));
    add (0x80 lor ((c lsr 6) land 0x3f)); add (0x80 lor (c land 0x3f)))

let is_surrogate c = c >= 0xd800 && c < 0xe000
let whole_characters text = not (List.exists is_surrogate (code_points text))

let each f text =
  let buffer = Buffer.create (String.length text + 16) in
  List.iter (f buffer) (code_points text);
  Buffer.contents buffer

let escape buffer c =
  match c with
  | 0x22 -> Buffer.add_string buffer "\\\""
  | 0x5c -> Buffer.add_string buffer "\\\\"
  | 0x0a -> Buffer.add_string buffer "\\n"
  | 0x0d -> Buffer.add_string buffer "\\r"
  | 0x09 -> Buffer.add_string buffer "\\t"
  | 0x0c -> Buffer.add_string buffer "\\f"
  | 0x08 -> Buffer.add_string buffer "\\b"
  | _ -> Printf.bprintf buffer "\\u%04x" c

let special c = c < 0x20 || c = 0x22 || c = 0x5c

(* a text between quotation marks that it cannot end, as JSON that leaves other characters as they are *)
let quoted text = "\"" ^ each (fun b c -> if special c then escape b c else add_utf8 b c) text ^ "\""

let ascii_json text =
  let one b c =
    if special c then escape b c
    else if c < 0x7f || c = 0x7f then Buffer.add_char b (Char.chr c)
    else if c < 0x10000 then Printf.bprintf b "\\u%04x" c
    else
      let c = c - 0x10000 in
      Printf.bprintf b "\\u%04x\\u%04x" (0xd800 lor (c lsr 10)) (0xdc00 lor (c land 0x3ff))
  in
  "\"" ^ each one text ^ "\""

(* separators, controls, marks of direction, private and half characters: they could move the cursor or hide text *)
let hidden c =
  c < 0x20 || (c >= 0x7f && c <= 0xa0) || c = 0xad || (c >= 0x600 && c <= 0x605) || c = 0x61c || c = 0x6dd || c = 0x70f
  || c = 0x1680 || c = 0x180e || (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f)
  || (c >= 0x205f && c <= 0x206f) || c = 0x3000 || (c >= 0xd800 && c < 0xf900) || c = 0xfeff || (c >= 0xfff0 && c <= 0xfffb)
  || c land 0xfffe = 0xfffe || c >= 0xe0000

let printable line =
  let one b c =
    if not (hidden c) then add_utf8 b c
    else
      match c with
      | 0x0a -> Buffer.add_string b "\\n"
      | 0x0d -> Buffer.add_string b "\\r"
      | 0x09 -> Buffer.add_string b "\\t"
      | _ when c < 0x100 -> Printf.bprintf b "\\x%02x" c
      | _ when c < 0x10000 -> Printf.bprintf b "\\u%04x" c
      | _ -> Printf.bprintf b "\\U%08x" c
  in
  each one line

(* -3/ff *)
let hexadecimal q =
  let n = Q.num q in
  Printf.sprintf "%s%s/%s" (if Z.sign n < 0 then "-" else "") (Z.format "%x" (Z.abs n)) (Z.format "%x" (Q.den q))

(* a user's number: a decimal where that is short and exact, else p/q *)
let number q =
  let n = Q.num q and d = Q.den q in
  let rec go digits power =
    if digits > 30 then Z.to_string n ^ "/" ^ Z.to_string d
    else if Z.sign (Z.rem power d) = 0 then (
      let text = Z.to_string (Z.mul (Z.abs n) (Z.div power d)) in
      let missing = digits + 1 - String.length text in
      let text = if missing > 0 then String.make missing '0' ^ text else text in
      let at = String.length text - digits in
      let text = if digits = 0 then text else String.sub text 0 at ^ "." ^ String.sub text at digits in
      if Z.sign n < 0 then "-" ^ text else text)
    else go (digits + 1) (Z.mul power (Z.of_int 10))
  in
  go 0 Z.one

(* seven digits, rounded up, as Python writes such a Decimal: 0.25, 1.234568e+20 *)
let decimal q =
  let negative = Q.sign q < 0 and n = Z.abs (Q.num q) and d = Q.den q in
  let length z = String.length (Z.to_string z) and ten = Z.of_int 10 in
  let power k = Z.pow ten k in
  let shift = length d - length n + 8 in
  let quotient, rest = if shift >= 0 then Z.div_rem (Z.mul n (power shift)) d else Z.div_rem n (Z.mul d (power (-shift))) in
  let rec strip c e = if e < 0 && Z.sign (Z.rem c ten) = 0 then strip (Z.div c ten) (e + 1) else (c, e) in
  let c, e =
    if Z.sign n = 0 then (Z.zero, 0)
    else if Z.sign rest = 0 then strip quotient (-shift)
    else ((if Z.sign (Z.rem quotient (Z.of_int 5)) = 0 then Z.succ quotient else quotient), -shift) in
  let drop = max 0 (length c - 7) in
  let c', left = Z.div_rem c (power drop) in
  let c' = if Z.sign left <> 0 && not negative then Z.succ c' else c' in
  let c, e = if length c' > 7 then (Z.div c' ten, e + drop + 1) else (c', e + drop) in
  let text = Z.to_string c in
  let size = String.length text in
  let point = if e <= 0 && e + size > -6 then e + size else 1 in
  let whole, part =
    if point <= 0 then ("0", String.make (-point) '0' ^ text)
    else (String.sub text 0 point, String.sub text point (size - point)) in
  let power = e + size - point in
  (if negative then "-" else "") ^ whole ^ (if part = "" then "" else "." ^ part)
  ^ if power = 0 then "" else Printf.sprintf "e%+d" power
