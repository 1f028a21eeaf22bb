(* weights.safetensors: a header of JSON, then the tensors without gaps or overlaps; those of the backbone are left out. *)
open Report

type kind = { dtype : string; shape : Z.t list; from : int; upto : int }
type t = {
  data : string;  (* the whole file: places of tensors count from its beginning *)
  kinds : (string, kind) Hashtbl.t;
  asked : (string, unit) Hashtbl.t;
  mutable loose : string list;  (* how names of tensors begin that are nobody's business *)
}

let starts prefix name = String.length name >= String.length prefix && String.sub name 0 (String.length prefix) = prefix

let read data =
  let readable good reason = if not good then raise (Unreadable ("weights.safetensors is not readable: " ^ reason)) in
  let total = String.length data in
  readable (total >= 8) "it is truncated or its header too large";
  let size = String.get_int64_le data 0 in
  let limit = Int64.of_int (min (16 * 1048576) (total - 8)) in
  readable (size >= 0L && size <= limit) "it is truncated or its header too large";
  let size = Int64.to_int size in
  let header = match Json.parse "the header of weights.safetensors" (String.sub data 8 size) with
    | Json.Object l -> l
    | _ -> readable false "its header is not a table"; [] in
  let base = 8 + size in
  let whole = function
    | Json.List l when List.for_all (function Json.Int z -> Z.sign z >= 0 | _ -> false) l ->
      Some (List.map (function Json.Int z -> z | _ -> Z.zero) l)
    | _ -> None in
  let place (name, e) =
    if name = "__metadata__" then None
    else
      match (Json.is_object [ "dtype"; "shape"; "data_offsets" ] e, Json.member "dtype" e,
             Option.bind (Json.member "shape" e) whole, Option.bind (Json.member "data_offsets" e) whole) with
      | true, Some (Json.Text dtype), Some shape, Some [ a; b ] -> Some (a, b, name, dtype, shape)
      | _ -> readable false "the entry of a tensor is malformed"; None in
  let order (a, b, n, _, _) (c, d, m, _, _) =
    match Z.compare a c with 0 -> (match Z.compare b d with 0 -> compare n m | v -> v) | v -> v in
  let kinds = Hashtbl.create 64 in
  let next last (a, b, name, dtype, shape) =
    readable (Z.equal a last && Z.leq a b) "tensors overlap or leave gaps";
    if not (starts "backbone." name) && Z.leq b (Z.of_int (total - base)) then
      Hashtbl.replace kinds name { dtype; shape; from = base + Z.to_int a; upto = base + Z.to_int b };
    b in
  let last = List.fold_left next Z.zero (List.sort order (List.filter_map place header)) in
  readable (Z.equal last (Z.of_int (total - base))) "bytes are missing or left over";
  { data; kinds; asked = Hashtbl.create 64; loose = [] }

let bytes t name = match Hashtbl.find_opt t.kinds name with Some k -> k.upto - k.from | None -> 0
let raw t name = let k = Hashtbl.find t.kinds name in String.sub t.data k.from (k.upto - k.from)

(* an exact number m·2^e *)
let num m e : Checker.DOps.num =
  if Z.sign m = 0 then Checker.DOps.zero
  else
    let by = Z.trailing_zeros m in
    let m = Z.shift_right m by and e = e + by in
    if e >= 0 then { Checker.DOps.man = Z.shift_left m e; ex = Z.zero; de = Z.one }
    else { Checker.DOps.man = m; ex = Z.of_int (-e); de = Z.one }

(* the float of these bits; None if it is not finite: field f and fraction m stand for (m + 2^52)·2^(f − 1075),
   for m·2^-1074 where f = 0 *)
let decode word =
  let field = Int64.to_int (Int64.logand (Int64.shift_right_logical word 52) 2047L) in
  let m = Int64.to_int (Int64.logand word 0xfffffffffffffL) in
  if field = 2047 then None
  else
    let m = if field = 0 then m else m lor (1 lsl 52) in
    let m = if Int64.compare word 0L < 0 then -m else m in
    Some (num (Z.of_int m) ((if field = 0 then 1 else field) - 1075))

(* a float64 tensor of this shape, number by number *)
let numbers t name shape =
  let k = match Hashtbl.find_opt t.kinds name with
    | Some k when k.dtype = "F64" && List.length k.shape = List.length shape
                  && List.for_all2 (fun a b -> Z.equal a (Z.of_int b)) k.shape shape -> k
    | _ -> refuse (name ^ " is missing, or has another type or shape") in
  let count = List.fold_left (fun a b -> Z.mul a (Z.of_int b)) Z.one shape in
  need (Z.equal (Z.of_int (k.upto - k.from)) (Z.mul (Z.of_int 8) count)) (name ^ " has another size than its shape");
  Hashtbl.replace t.asked name ();
  let one i = match decode (String.get_int64_le t.data (k.from + (8 * i))) with
    | Some v -> v
    | None -> refuse (name ^ " is not finite") in
  Array.init (Z.to_int count) one

let vector t name n = Array.to_list (numbers t name [ n ])
let matrix t name rows columns =
  let flat = numbers t name [ rows; columns ] in
  List.init rows (fun r -> List.init columns (fun c -> flat.((r * columns) + c)))

(* names of the tensors that were asked for, in order; others are not allowed *)
let certified t =
  let own = Hashtbl.fold (fun name _ l -> if List.exists (fun p -> starts p name) t.loose then l else name :: l) t.kinds [] in
  need (List.length own = Hashtbl.length t.asked && List.for_all (Hashtbl.mem t.asked) own)
    "weights.safetensors has unknown tensors";
  List.sort compare own
