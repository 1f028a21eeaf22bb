(* SHA-256 (FIPS 180-4), in hexadecimal. Words are kept in OCaml's 63-bit integers and cut to 32 bits. *)
let k =
  (* the first 32 bits of the fractional parts of the cube roots of the first 64 primes, by integer cube roots *)
  let rec primes n found = if List.length found = 64 then List.rev found
    else primes (n + 1) (if List.exists (fun p -> n mod p = 0) found then found else n :: found) in
  let bits p = Z.to_int (Z.logand (Z.root (Z.shift_left (Z.of_int p) 96) 3) (Z.of_int 0xffffffff)) in
  Array.of_list (List.map bits (primes 2 []))

let start =
  let bits p = Z.to_int (Z.logand (Z.sqrt (Z.shift_left (Z.of_int p) 64)) (Z.of_int 0xffffffff)) in
  Array.map bits [| 2; 3; 5; 7; 11; 13; 17; 19 |]

let mask = 0xffffffff
let rot x n = ((x lsr n) lor (x lsl (32 - n))) land mask

let block h w data pos =
  for i = 0 to 15 do
    w.(i) <- Int32.to_int (Bytes.get_int32_be data (pos + (4 * i))) land mask
  done;
  for i = 16 to 63 do
    let a = w.(i - 15) and b = w.(i - 2) in
    let s0 = rot a 7 lxor rot a 18 lxor (a lsr 3) and s1 = rot b 17 lxor rot b 19 lxor (b lsr 10) in
    w.(i) <- (w.(i - 16) + s0 + w.(i - 7) + s1) land mask
  done;
  let a = ref h.(0) and b = ref h.(1) and c = ref h.(2) and d = ref h.(3) in
  let e = ref h.(4) and f = ref h.(5) and g = ref h.(6) and q = ref h.(7) in
  for i = 0 to 63 do
    let s1 = rot !e 6 lxor rot !e 11 lxor rot !e 25 and ch = !e land !f lxor (lnot !e land mask land !g) in
    let t1 = (!q + s1 + ch + k.(i) + w.(i)) land mask in
    let s0 = rot !a 2 lxor rot !a 13 lxor rot !a 22 and maj = !a land !b lxor (!a land !c) lxor (!b land !c) in
    let t2 = (s0 + maj) land mask in
    q := !g; g := !f; f := !e; e := (!d + t1) land mask;
    d := !c; c := !b; b := !a; a := (t1 + t2) land mask
  done;
  List.iteri (fun i v -> h.(i) <- (h.(i) + v) land mask) [ !a; !b; !c; !d; !e; !f; !g; !q ]

let hex text =
  let n = String.length text in
  let h = Array.copy start and w = Array.make 64 0 in
  let data = Bytes.unsafe_of_string text in
  let whole = n / 64 * 64 in
  let pos = ref 0 in
  while !pos < whole do
    block h w data !pos;
    pos := !pos + 64
  done;
  let rest = n - whole in
  let tail = Bytes.make (if rest < 56 then 64 else 128) '\000' in
  Bytes.blit_string text whole tail 0 rest;
  Bytes.set tail rest '\x80';
  Bytes.set_int64_be tail (Bytes.length tail - 8) (Int64.of_int (8 * n));
  block h w tail 0;
  if Bytes.length tail = 128 then block h w tail 64;
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") h))
