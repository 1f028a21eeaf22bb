(* model.json and the tensors of section 1: everything is read and tested as the specification says; `net` is what the
   proof covers of it. *)
open Report

type coordinate = { name : string; lo : Json.real; hi : Json.real; shift : Json.real; mult : Json.real;
                    whole : bool; group : bool; feature : int }
type domain = { coordinates : coordinate list; features : (string * int list) list; groups : int list list; lines : string list }
type t = {
  domain : domain;
  profile : string;
  outputs : string list;
  scales : Json.real list;
  source : int option list;     (* the input that a coordinate of e passes on; without an encoder all of them *)
  encoded : bool;
  net : (Checker.net0, string) result;  (* or what the proof does not cover *)
  digest : string;
  meaning : string list;
  row_work : int -> int;        (* section 6: what every row of a claim over so many copies costs *)
  node_work : int -> int -> int -> int -> int;  (* what nodes, lemmas and extra rows of a leaf cost besides; the order rule counts as one node *)
  units : int; flips : int;     (* flip units of paper boxes; hidden units of lower and second *)
  ends : bool; zero_gap : bool; (* affine gaps without an encoder; boxes of no width *)
  groups : int list list;       (* among the coordinates of e *)
  pairs : int;                  (* of values of one group *)
  claim_work : int;
  bits : int; ends_bits : int;  (* section 6: 2e and mult's; of shift and of the scaled ends *)
}

let of_real (r : Json.real) = Tensors.num r.Json.mantissa r.Json.exponent
let to_q (r : Json.real) =
  let e = r.Json.exponent in
  if e >= 0 then Q.of_bigint (Z.shift_left r.Json.mantissa e) else Q.make r.Json.mantissa (Z.shift_left Z.one (-e))
let rounded q =  (* the nearest float *)
  if Q.sign q = 0 then Checker.DOps.zero
  else let m, e = Json.nearest (Z.abs (Q.num q)) (Q.den q) in Tensors.num (if Q.sign q < 0 then Z.neg m else m) e
let num_to_q (v : Checker.DOps.num) = Q.make v.Checker.DOps.man (Z.shift_left v.Checker.DOps.de (Z.to_int v.Checker.DOps.ex))
(* the least e such that all these floats are multiples of 2^-e *)
let finest l = List.fold_left (fun e (v : Checker.DOps.num) -> max e (Z.to_int v.Checker.DOps.ex)) 0 l
let distinct l = List.length (List.sort_uniq compare l) = List.length l

let feature at number f =
  let keys = match f with Json.Object l -> List.map fst l | _ -> refuse "a feature is malformed" in
  let known = [ "name"; "kind"; "lo"; "hi"; "categories"; "columns"; "shift"; "mult"; "unit" ] in
  need (List.for_all (fun k -> List.mem k known) keys
        && List.for_all (fun k -> List.mem k keys) [ "name"; "kind"; "lo"; "hi" ]) "a feature is malformed";
  let text key default = match Json.member key f with
    | None -> default | Some (Json.Text t) -> t | _ -> refuse "a feature has no name" in
  let name = text "name" "" and unit = text "unit" "" in
  need (name <> "") "a feature has no name";
  let kind = match Json.member "kind" f with Some (Json.Text k) -> k | _ -> "" in
  need (List.mem kind [ "continuous"; "integer"; "binary"; "category" ]) (name ^ " has an unknown kind");
  let number_of key default = match Json.member key f with
    | None -> Json.real default | Some (Json.Real r) -> r
    | _ -> refuse (name ^ " has bounds or scales that are not floats") in
  let lo = number_of "lo" "0.0" and hi = number_of "hi" "0.0" in
  let shift = number_of "shift" "0.0" and mult = number_of "mult" "1.0" in
  need (Q.leq (to_q lo) (to_q hi) && Q.sign (to_q mult) > 0) (name ^ " has an empty range or a scale that is not positive");
  let integral r = Z.equal (Q.den (to_q r)) Z.one in
  need (kind <> "integer" || (integral lo && integral hi)) (name ^ " has bounds that are not whole");
  let is r v = Q.equal (to_q r) (Q.of_int v) in
  need (kind = "continuous" || kind = "integer" || (is lo 0 && is hi 1 && is shift 0 && is mult 1)) (name ^ " is not a 0/1 input");
  let list key = match Json.member key f with
    | None -> [] | Some v -> (match Json.texts v with Some l -> l | None -> refuse (name ^ " has malformed categories")) in
  let values = list "categories" and columns = list "columns" in
  let enough = match kind with
    | "category" -> values <> [] | "binary" -> List.mem (List.length values) [ 0; 2 ] | _ -> values = [] in
  need (enough && distinct values) (name ^ " has malformed categories");
  need (List.mem (List.length columns) [ 0; List.length values ] && (kind = "category" || columns = [])) (name ^ ": columns");
  let own = if kind <> "category" then [ name ] else if columns <> [] then columns
    else List.map (fun v -> name ^ "=" ^ v) values in
  let what = match (kind, values) with
    | "category", _ -> "one of " ^ String.concat ", " (List.map Words.quoted own)
    | "binary", [ a; b ] -> Printf.sprintf "0 for %s, 1 for %s" (Words.quoted a) (Words.quoted b)
    | _ -> Printf.sprintf "in [%s, %s]" lo.Json.text hi.Json.text in
  let line = Printf.sprintf "%s %s%s (%s)" (Words.quoted name) what (if unit = "" then "" else " " ^ Words.quoted unit) kind in
  let one name = { name; lo; hi; shift; mult; whole = kind <> "continuous"; group = kind = "category"; feature = number } in
  (name, List.mapi (fun i _ -> at + i) own, List.map one own, kind = "category", line)

let domain v =
  let list = match (Json.is_object [ "features" ] v, Json.member "features" v) with
    | true, Some (Json.List l) -> l | _ -> refuse "the domain is malformed" in
  need (list <> []) "the domain has no features";
  let step (at, number, found) f =
    let (_, places, _, _, _) as one = feature at number f in
    (at + List.length places, number + 1, one :: found) in
  let _, _, found = List.fold_left step (0, 0, []) list in
  let found = List.rev found in
  need (distinct (List.map (fun (name, _, _, _, _) -> name) found)) "two features have one name";
  let coordinates = List.concat_map (fun (_, _, c, _, _) -> c) found in
  need (distinct (List.map (fun c -> c.name) coordinates)) "two coordinates have the same name";
  { coordinates; features = List.map (fun (name, places, _, _, _) -> (name, places)) found;
    groups = List.filter_map (fun (_, places, _, group, _) -> if group then Some places else None) found;
    lines = List.map (fun (_, _, _, _, line) -> line) found }

(* ---- the encoder ---- *)
let rec combine a b = match (a, b) with x :: a, y :: b -> (x, y) :: combine a b | _ -> []

(* nodes in preorder make up trees; read from the last one, a node finds its children complete. What recurses on trees has a
   stack, so that they may not be too deep *)
let deep = 10_000
let grown split number =
  let step at done_ =
    match (split.(at), done_) with
    | -1, _ -> (Checker.Tip number.(at), 0) :: done_
    | asked, (left, m) :: (right, n) :: rest ->
      let depth = 1 + max m n in
      if depth > deep then uncovered "a tree of so many levels";
      (Checker.Ask (asked, number.(at), left, right), depth) :: rest
    | _ -> refuse "the nodes of a layer of trees do not make up its trees" in
  let rec go at done_ = if at < 0 then done_ else go (at - 1) (step at done_) in
  List.rev (List.rev_map fst (go (Array.length split - 1) []))

let trees tensors place width size v =
  need (size "inputs" = width) "a layer of the encoder has another size";
  let nodes = size "nodes" in
  let counts = match Option.bind (Json.member "trees" v) Json.sizes with
    | Some (_ :: _ as l) when List.for_all (fun c -> c >= 1) l -> l
    | _ -> refuse "a layer of trees has an output without trees" in
  let rec rising = function a :: (b :: _ as l) -> a < b && rising l | _ -> true in
  let set places = match Json.sizes places with
    | Some (_ :: _ as l) when rising l && List.for_all (fun i -> i < width) l -> l
    | _ -> refuse "a set of a layer of trees is malformed" in
  let sets = match Json.member "sets" v with
    | Some (Json.List l) -> List.map set l | _ -> refuse "a set of a layer of trees is malformed" in
  let known = width + List.length sets in
  let asked (q : Checker.DOps.num) =
    let whole = Z.equal q.Checker.DOps.ex Z.zero && Z.fits_int q.Checker.DOps.man in
    let c = if whole then Z.to_int q.Checker.DOps.man else -2 in
    need (c >= -1 && c < known) "a node of a tree asks for something that is not there";
    c in
  let split = Array.map asked (Tensors.numbers tensors (place ^ "split") [ nodes ]) in
  let forest = grown split (Tensors.numbers tensors (place ^ "number") [ nodes ]) in
  let bias = Tensors.vector tensors (place ^ "bias") (List.length counts) in
  let rec take count forest = match (count, forest) with
    | 0, rest -> ([], rest)
    | _, tree :: rest -> let own, left = take (count - 1) rest in (tree :: own, left)
    | _ -> refuse "the nodes of a layer of trees do not make up its trees" in
  let output (forest, found) b count = let own, rest = take count forest in (rest, (b, own) :: found) in
  let rest, found = List.fold_left2 output (forest, []) bias counts in
  need (rest = []) "the nodes of a layer of trees do not make up its trees";
  (Checker.Trees (sets, List.rev found), List.length counts)

(* section 6: places in sets, and leaves times the sum of their depths of every tree that is not too large *)
let tree_work = function
  | Checker.Trees (sets, outputs) ->
    let rec measure depth = function
      | Checker.Tip _ -> (1, depth)
      | Checker.Ask (_, _, l, r) ->
        let m, a = measure (depth + 1) l in
        let n, b = measure (depth + 1) r in
        (m + n, a + b) in
    let one tree = let leaves, depths = measure 0 tree in if leaves <= 256 then leaves * depths else 0 in
    let sum f l = List.fold_left (fun s v -> s + f v) 0 l in
    (4 * sum List.length sets) + sum (fun (_, own) -> sum one own) outputs
  | _ -> 0

(* a layer and the number of its outputs; Error: a pinned module *)
let layer tensors prefix number last base width v =
  let kind = match Json.member "kind" v with Some (Json.Text k) -> k | _ -> "" in
  let keys = match kind with
    | "ramps" -> [ "source" ] | "linear" -> [ "inputs"; "outputs"; "base" ] | "kinks" -> [ "size"; "convex" ]
    | "pool" -> [ "side"; "block" ] | "distance" -> [ "inputs"; "outputs" ] | "pinned" -> [ "outputs"; "module" ]
    | "trees" -> [ "inputs"; "trees"; "nodes"; "sets" ]
    | "contract" -> uncovered "an encoder with a contraction"
    | _ -> refuse "the encoder has a layer of unknown kind" in
  need (Json.is_object ("kind" :: keys) v) "a layer of the encoder is malformed";
  let size key = match Option.bind (Json.member key v) Json.size with
    | Some s -> s | None -> refuse "a layer of the encoder has a malformed size" in
  let place = Printf.sprintf "%s%d." prefix number in
  let rows inputs outputs =
    need (inputs = width) "a layer of the encoder has another size";
    need (outputs >= 1) "a layer of the encoder has no outputs";
    fun extra ->
      let weight = Tensors.matrix tensors (place ^ "weight") outputs (inputs + extra) in
      combine weight (Tensors.vector tensors (place ^ "bias") outputs) in
  match kind with
  | "ramps" ->
    let source = match Option.bind (Json.member "source" v) Json.sizes with
      | Some (_ :: _ as l) when List.for_all (fun i -> i < width) l -> l | _ -> refuse "a ramp reads no such input" in
    let k = List.length source in
    let start = Tensors.vector tensors (place ^ "start") k in
    let rate = Tensors.vector tensors (place ^ "rate") k in
    need (List.for_all (fun (r : Checker.DOps.num) -> Z.sign r.Checker.DOps.man > 0) rate) "a ramp does not rise";
    (Ok (Checker.Ramps (combine (combine source start) rate)), k)
  | "kinks" ->
    need (size "size" = width && size "convex" <= width) "a layer of kinks has another size";
    (Ok (Checker.Kinks (size "convex")), width)
  | "pool" ->
    let side = size "side" and block = size "block" in
    need (block >= 1 && side <= width && side * side = width && side mod block = 0) "a layer of means has another size";
    (Ok (Checker.Pool (side, block)), side / block * (side / block))
  | "pinned" ->
    need last "a pinned module is not the last layer of its branch";
    let outputs = size "outputs" in
    need (outputs <= Tensors.bytes tensors "encoder.lo") "a pinned module has too many outputs";
    need (outputs >= 1) "a layer of the encoder has no outputs";
    tensors.Tensors.loose <- (place ^ "module.") :: tensors.Tensors.loose;
    (Error outputs, outputs)
  | "trees" ->
    let own, outputs = trees tensors place width size v in
    (Ok own, outputs)
  | "distance" ->
    let outputs = size "outputs" in
    (Ok (Checker.Distance (rows (size "inputs") outputs 0)), outputs)
  | _ ->
    let extra = size "base" and outputs = size "outputs" in
    need (extra = 0 || extra = base) "a layer appends something else than the first layer's outputs";
    (Ok (Checker.Linear (extra > 0, rows (size "inputs") outputs extra)), outputs)

let layers tensors prefix width list =
  need (List.length list <= 64) "a branch of the encoder has too many layers";
  let count = List.length list in
  let step (number, base, width, steps, pinned) v =
    let one, outputs = layer tensors prefix number (number = count - 1) base width v in
    let base = if base > 0 then base else outputs in
    match one with
    | Ok l -> (number + 1, base, outputs, l :: steps, pinned)
    | Error j -> (number + 1, base, outputs, steps, Some j) in
  let _, _, width, steps, pinned = List.fold_left step (0, 0, width, [], None) list in
  (List.rev steps, pinned, width)

(* branches, names and sources of the coordinates of e, groups among them *)
let encoder tensors domain v =
  let list = match v with Json.List (_ :: _ as l) -> l | _ -> refuse "the encoder has no branches" in
  let m = List.length domain.coordinates in
  let branch (number, at, taken, found) b =
    need (Json.is_object [ "name"; "columns"; "layers" ] b) "a branch of the encoder is malformed";
    let name, columns, steps =
      match (Json.get "name" b, Json.sizes (Json.get "columns" b), Json.get "layers" b) with
      | Json.Text n, Some c, Json.List l -> (n, c, l) | _ -> refuse "a malformed branch" in
    need (columns <> [] && List.for_all (fun i -> i < m) columns) "a branch reads no such input";
    need (distinct columns) "a branch reads an input twice";
    if steps <> [] then (
      need (not (List.mem name taken)) "a branch needs a name of its own";
      let prefix = Printf.sprintf "encoder.branches.%d.layers." number in
      let steps, pinned, width = layers tensors prefix (List.length columns) steps in
      let names = List.init width (fun i -> Printf.sprintf "%s.%d" name i) in
      (number + 1, at + width, name :: taken, (columns, steps, pinned, names, names, List.map (fun _ -> None) names, []) :: found))
    else
      let inside = Hashtbl.create 64 in
      List.iteri (fun p i -> Hashtbl.replace inside i p) columns;
      let passed = List.filter (fun (_, span) -> Hashtbl.mem inside (List.hd span)) domain.features in
      need (columns = List.concat_map snd passed) "a branch passes parts of features on";
      let groups = List.filter_map (fun g -> Option.map (fun p -> List.mapi (fun i _ -> at + p + i) g) (Hashtbl.find_opt inside (List.hd g)))
          domain.groups in
      let names = List.map (fun i -> (List.nth domain.coordinates i).name) columns in
      (number + 1, at + List.length columns, taken,
       (columns, [], None, names, List.map fst passed, List.map (fun i -> Some i) columns, groups) :: found) in
  let _, _, _, found = List.fold_left branch (0, 0, List.map fst domain.features, []) list in
  let found = List.rev found in
  let names = List.concat_map (fun (_, _, _, n, _, _, _) -> n) found in
  need (distinct (List.concat_map (fun (_, _, _, _, f, _, _) -> f) found)) "two features of the encoder have one name";
  let p = List.length names in
  let lo = Tensors.numbers tensors "encoder.lo" [ p ] and hi = Tensors.numbers tensors "encoder.hi" [ p ] in
  Array.iteri (fun i l -> need (Checker.DOps.leb l hi.(i)) "the encoder's box is empty") lo;
  need (distinct names) "two coordinates have the same name";
  let cut (at, branches) (columns, steps, pinned, names, _, sources, _) =
    let own = List.exists (fun s -> s = None) sources in
    let box = if own then List.mapi (fun i _ -> (lo.(at + i), hi.(at + i))) names else [] in
    (at + List.length names, { Checker.columns; steps; pinned0 = pinned; box } :: branches) in
  let _, branches = List.fold_left cut (0, []) found in
  (List.rev branches, List.concat_map (fun (_, _, _, _, _, s, _) -> s) found, List.concat_map (fun (_, _, _, _, _, _, g) -> g) found)

(* ---- all of it ---- *)
(* a product of work that is far above the limit is not the integer's remainder *)
let times a b = if a > 0 && b > (1 lsl 50) / a then 1 lsl 50 else a * b

let power_of_two (r : Json.real) =
  let q = to_q r in
  Q.sign q > 0 && Z.popcount (Q.num q) = 1 && Z.popcount (Q.den q) = 1
  && Q.geq q (Q.make Z.one (Z.shift_left Z.one 1022))

(* of the coordinates of e: the finest mult; the finest of shift and of the ends, scaled and rounded. Those an encoder makes have none
   of these but their box *)
let fineness domain source branches =
  let coordinates = Array.of_list domain.coordinates in
  let own = List.filter_map (Option.map (fun i -> coordinates.(i))) source in
  let scaled c v = rounded (Q.mul (num_to_q (rounded (Q.sub (to_q v) (to_q c.shift)))) (to_q c.mult)) in
  let ends c = [ of_real c.shift; scaled c c.lo; scaled c c.hi ] in
  let boxes = List.concat_map (fun b -> List.concat_map (fun (l, h) -> [ l; h ]) b.Checker.box) (Option.value branches ~default:[]) in
  (finest (List.map (fun c -> of_real c.mult) own), max (finest boxes) (finest (List.concat_map ends own)))

let table_meaning model outputs =
  match Json.member "table" model with
  | None -> []
  | Some (Json.Object _ as table) -> (
    match Json.member "meaning" table with
    | None -> []
    | Some words -> (match Json.texts words with
        | Some l when List.length l = outputs -> l | _ -> refuse "the meaning of outputs is malformed"))
  | Some _ -> refuse "the table of model.json is malformed"

let model_digest model net tensors names =
  let own = match net with Json.Object l -> Json.Object (List.remove_assoc "backbone" l) | v -> v in
  let table = Option.value (Json.member "table" model) ~default:Json.Null in
  let buffer = Buffer.create 65536 in
  Json.encode buffer (Json.Object [ ("net", own); ("table", table) ]);
  let add name =
    Json.encode_text buffer name;
    let data = Tensors.raw tensors name in
    Buffer.add_string buffer (Printf.sprintf "b%d:" (String.length data));
    Buffer.add_string buffer data in
  List.iter add names;
  Sha256.hex (Buffer.contents buffer)

let read model tensors =
  let net = match Json.member "net" model with Some (Json.Object _ as n) -> n | _ -> refuse "model.json describes no network" in
  let keys = [ "domain"; "boxes"; "auxiliaries"; "hidden"; "skip"; "embedding"; "outputs"; "output_scale"; "profile"; "grid"; "backbone" ] in
  let encoded = Json.member "encoder" net <> None in
  need (Json.is_object (if encoded then "encoder" :: keys else keys) net) "the network has missing or unknown parts";
  let text key = match Json.get key net with Json.Text t -> t | _ -> "" in
  let boxes = text "boxes" and kind = text "auxiliaries" and profile = text "profile" in
  need (List.mem boxes [ "gap"; "paper" ]) "unknown boxes";
  need (List.mem kind [ "constant"; "affine"; "relu" ]) "unknown auxiliaries";
  let most = 1 lsl 30 in
  let whole key least reason = match Json.size (Json.get key net) with
    | Some v when v >= least && v <= most -> v | _ -> refuse reason in
  let n = whole "embedding" 1 "embedding is not a positive whole number" in
  need (List.mem profile [ "f64-aux"; "fixed-order"; "dyadic" ]) "unknown numeric profile";
  let grid = match Json.get "grid" net with Json.Int z when Z.fits_int z -> Z.to_int z | _ -> refuse "grid is malformed" in
  need (if profile = "dyadic" then grid >= 1 && grid <= 52 else grid = 0) "grid does not suit the profile";
  let hidden = whole "hidden" 0 "hidden is not a whole number, or too large" in
  let skip = match Json.get "skip" net with Json.Bool b -> b | _ -> refuse "skip is neither true nor false" in
  let outputs = match Json.texts (Json.get "outputs" net) with
    | Some (_ :: _ as l) when distinct l -> l | _ -> refuse "outputs need unique names" in
  let scales = match Json.get "output_scale" net with
    | Json.List l when List.length l = List.length outputs ->
      List.map (function Json.Real r when power_of_two r -> r | _ -> refuse "output_scale is not a power of two") l
    | _ -> refuse "output_scale is malformed" in
  let domain = domain (Json.get "domain" net) in
  let branches, source, groups = match Json.member "encoder" net with
    | Some v -> let b, s, g = encoder tensors domain v in (Some b, s, g)
    | None -> (None, List.mapi (fun i _ -> Some i) domain.coordinates, domain.groups) in
  need (not encoded || profile <> "dyadic") "a dyadic network has no encoder";
  let m = List.length source and o = List.length outputs and paper = boxes = "paper" in
  let h = if kind = "relu" then hidden else 0 in
  need (kind <> "relu" || h >= 1) "hidden is not a positive whole number";
  let vector = Tensors.vector tensors and matrix = Tensors.matrix tensors in
  let empty = List.init n (fun _ -> []) in
  let part name =
    let slopes = (kind = "affine" || skip) && (paper || name = "lower.") in
    let const = vector (name ^ "const") n in
    let slope = if slopes then matrix (name ^ "slope") n m else empty in
    let units = if h > 0 then combine (matrix (name ^ "weight") h m) (vector (name ^ "bias") h) else [] in
    let out = if h > 0 then matrix (name ^ "out") n h else empty in
    (slopes, const, slope, units, out) in
  let l_slopes, l_const, l_slope, l_units, l_out = part "lower." in
  let s_slopes, s_const, s_slope, s_units, s_out = part "second." in
  let ends = kind = "affine" && (not paper) && not encoded in
  let rise = if ends then List.map2 ( @ ) (matrix "second.rise" n m) (matrix "second.fall" n m) else [] in
  let head = combine (combine (matrix "head_weight" o n) (vector "head_bias" o)) (List.map of_real scales) in
  let negative (v : Checker.DOps.num) = Z.sign v.Checker.DOps.man < 0 in
  need (paper || not (List.exists (List.exists negative) ((s_const :: s_out) @ rise))) "a gap is negative: the box could flip";
  let names = Tensors.certified tensors in
  let coords = List.map (fun c -> { Checker.c_lo = of_real c.lo; c_hi = of_real c.hi; c_shift = of_real c.shift;
                                    c_mult = of_real c.mult; c_whole = c.whole; c_group = c.group; c_feature = c.feature })
      domain.coordinates in
  let lower = { Checker.hidden0 = l_units; skips = l_slopes;
                sums = combine (List.map2 ( @ ) l_slope l_out) l_const } in
  let second = if ends then { Checker.hidden0 = []; skips = true; sums = combine rise s_const }
    else { Checker.hidden0 = s_units; skips = s_slopes; sums = combine (List.map2 ( @ ) s_slope s_out) s_const } in
  let still (v : Checker.DOps.num) = Z.sign v.Checker.DOps.man = 0 in
  let zero_gap = not (paper || List.exists (List.exists (fun v -> not (still v))) ((s_const :: s_out) @ rise)) in
  let kind = if paper then Checker.Paper else Checker.Gap in
  let net_of = if profile = "dyadic" then Error "the profile dyadic"
    else Ok { Checker.coords; encoder = branches; kind; ends; lower0 = lower; second0 = second; head0 = head } in
  let units = 2 * h and flips = if paper then n else 0 and squares = List.map (fun g -> List.length g * List.length g) groups in
  let pairs = List.fold_left ( + ) 0 squares and some = List.fold_left (fun s v -> s + (v / 64)) 0 squares in
  let elements = Hashtbl.fold (fun name () s -> if Tensors.starts "encoder." name then s + (Tensors.bytes tensors name / 8) else s)
      tensors.Tensors.asked 0 in
  let steps = List.concat_map (fun b -> b.Checker.steps) (Option.value branches ~default:[]) in
  let trees = List.fold_left (fun s l -> s + tree_work l) 0 steps in
  let rows = List.concat_map (fun (row, b) -> b :: row) in
  let weights = [ l_const; s_const; rows l_units; rows s_units; rows (List.map fst head) ] @ l_slope @ s_slope @ l_out @ s_out @ rise in
  let mult_bits, ends_bits = fineness domain source branches in
  { domain; profile; outputs; scales; source; encoded; ends; zero_gap; net = net_of;
    digest = model_digest model net tensors names; meaning = table_meaning model o;
    row_work = (fun k -> k * ((n * (o + m + units)) + (8 * (m + 8)))); units; flips; groups; pairs;
    node_work = (fun k nodes lemmas extra ->
        let each = times (m + 1 + if k = 2 then some else 0) (1 + flips) in
        let own = (nodes * (units + 1 + extra + ((lemmas + 3) / 4))) + (lemmas lsl k) in
        (16 * k * nodes) + times (k * own) each); claim_work = (4 * elements) + trees;
    bits = (2 * List.fold_left (fun e l -> max e (finest l)) 0 weights) + mult_bits; ends_bits }
