(* certificate.bin (section 6): lemmas and trees of the leaf rule, for one or two copies. All of it is advice to the
   proved checker, which bounds a row by any tree; a tree must still have the form that the specification asks for. *)
open Report
module D = Checker.DChecker
module P = Checker.DPaper
module S = Checker.DSlope

(* what the coordinates of e are like: which are members of which group, and the slots of the proved checker *)
type shape = { size : int; units : int; flips : int; groups : int array array; grouped : bool array; slot : int array }
type leaf = { bits : int; named : int array; start : int; length : int; lemmas : int }
type reader = { data : string; mutable taken : int }  (* [taken]: where the next piece begins *)

let shape size units flips groups =
  let groups = Array.of_list (List.map Array.of_list groups) in
  let grouped = Array.make size false and first = Array.make size true in
  Array.iter (Array.iteri (fun p i -> grouped.(i) <- true; first.(i) <- p = 0)) groups;
  let slot = Array.make size 0 and next = ref (-1) in
  Array.iteri (fun i begins -> if begins then incr next; slot.(i) <- !next) first;
  { size; units; flips; groups; grouped; slot }

let leaf shape p =
  let size key = Option.bind (Json.member key p) Json.size in
  let named = match Option.bind (Json.member "units" p) Json.sizes with
    | Some l -> Array.of_list l | None -> refuse "units is malformed" in
  Array.iteri (fun i j -> need (j < shape.units && (i = 0 || named.(i - 1) < j)) "units is malformed") named;
  let bits = match size "bits" with Some b when b <= 1000 -> b | _ -> refuse "bits is malformed" in
  let lemmas = match (Json.member "lemmas" p, size "lemmas") with
    | None, _ -> 0 | Some _, Some n when n >= 1 -> n | _ -> refuse "lemmas is malformed" in
  match (size "start", size "length") with
  | Some start, Some length -> { bits; named; start; length; lemmas }
  | _ -> refuse "proofs do not follow in order"

(* without flip units *)
let rec plain = function
  | P.PLeaf (_, _, first, second, nu, ys) -> D.Leaf (first, second, nu, ys)
  | P.PPhase (side, j, below, above) -> let below = plain below in D.Phase (side, j, below, plain above)
  | P.PInput (who, i, at, below, above) -> let below = plain below in D.Input (who, i, at, below, plain above)
  | P.PCategory (who, i, p, own, rest) -> let own = plain own in D.Category (who, i, p, own, plain rest)
  | P.PFlip _ -> refuse "a node has an unknown kind or splits something that is not there"

(* the lemmas and the tree of a row, and how many nodes it has; [limit]: how many it may have. One copy is for the checker two
   that are equal everywhere *)
let read shape (ready : Checker.ready) copies limit reader leaf =
  need (leaf.start = reader.taken) "proofs do not follow in order";
  need (leaf.length <= String.length reader.data - reader.taken) "certificate.bin is too short";
  let at = ref leaf.start and stop = leaf.start + leaf.length in
  reader.taken <- stop;
  let take size reason =
    let here = !at in
    need (size <= stop - here) reason;
    at := here + size;
    here in
  let number bits place = Tensors.num (Z.of_int32 (String.get_int32_le reader.data place)) (-bits) in
  let numbers bits count reason =
    let place = take (4 * count) reason in
    Array.init count (fun i -> number bits (place + (4 * i))) in
  let m = shape.size in
  need (leaf.lemmas <= (1 lsl 22) / (copies * m)) "lemmas have more numbers than they may have";
  let mult = Array.of_list ready.Checker.r_net.D.mult in
  let zero = Checker.DOps.zero in
  let lemma () =
    let cut = "a lemma is cut short" in
    let place = take 2 cut in
    let lj = String.get_uint16_le reader.data place in
    need (lj < shape.units) "a lemma is about a unit that is not there";
    let beta = Array.append (numbers leaf.bits copies cut) (Array.make (2 - copies) zero) in
    let sign i = Z.sign beta.(i).Checker.DOps.man in
    let on = List.filter (fun c -> sign c > 0) [ 0; 1 ] and off = List.filter (fun c -> sign c < 0) [ 0; 1 ] in
    let subsets = Array.init (1 lsl List.length on) (fun _ -> Array.to_list (numbers leaf.bits (List.length off) cut)) in
    let h = Array.append (numbers leaf.bits (copies * m) cut) (Array.make ((2 - copies) * m) zero) in
    let given flags =  (* the slopes of the subset of copies with these flags, as far as they can be on *)
      let p, _ = List.fold_left (fun (p, bit) c -> ((if flags.(c) then p lor bit else p), 2 * bit)) (0, 1) on in
      let of_copy c = match List.assoc_opt c (List.combine off subsets.(p)) with Some t -> t | None -> zero in
      (of_copy 0, of_copy 1) in
    let lth = List.map given [ [| false; false |]; [| true; false |]; [| false; true |]; [| true; true |] ] in
    let slopes c = List.init m (fun i -> Checker.DOps.mul h.((c * m) + i) mult.(i)) in
    { D.lj; lb1 = beta.(0); lb2 = beta.(1); lg1 = slopes 0; lg2 = slopes 1; lth } in
  let rec all count found = if count = 0 then List.rev found else all (count - 1) (lemma () :: found) in
  let lemmas = all leaf.lemmas [] in
  let rows = List.length ready.Checker.r_rows and uses = Array.length leaf.named in
  let pinned = Array.map (fun p -> p && copies = 2) (Array.of_list ready.Checker.r_pinned) in
  let count = ref 0 in
  let vector values =
    let out = Array.make shape.units zero in
    Array.iteri (fun i j -> out.(j) <- values.(i)) leaf.named;
    Array.to_list out in
  let who shared copy =
    need (if shared then copy = 255 else copy < copies) "a node names the wrong copy";
    if shared || copies = 1 then D.Both else if copy = 0 then D.First else D.Second in
  let rec node depth =
    incr count;
    if depth > Model.deep then uncovered "a tree of so many levels";
    need (!count <= limit) "too many nodes";
    need (!at < stop) "a tree is cut short";
    match reader.data.[!at] with
    | '\000' ->
      let cut = "a node is cut short" in
      ignore (take 1 cut);
      let pair count =  (* of both copies, one after the other *)
        let first = numbers leaf.bits count cut in
        (first, if copies = 2 then numbers leaf.bits count cut else Array.map (fun _ -> zero) first) in
      let one, two = pair shape.flips in
      let first, second = pair uses in
      let nu = numbers leaf.bits rows cut in
      let ys = numbers 24 leaf.lemmas cut in
      P.PLeaf (Array.to_list one, Array.to_list two, vector first, vector second, Array.to_list nu, Array.to_list ys)
    | '\001' | '\002' | '\003' | '\005' as kind -> split (depth + 1) kind
    | _ -> refuse "a node has an unknown kind or splits something that is not there"
  and split depth kind =
    let place = take (if kind = '\002' then 12 else 4) "a node is cut short" in
    let copy = Char.code reader.data.[place + 1] and index = String.get_uint16_le reader.data (place + 2) in
    let there = match kind with
      | '\001' -> shape.units | '\002' -> m | '\005' -> shape.flips | _ -> Array.length shape.groups in
    need (index < there) "a node has an unknown kind or splits something that is not there";
    match kind with
    | '\001' | '\005' ->
      need (copy < copies) "a node names the wrong copy";
      let below = node depth in
      let above = node depth in
      if kind = '\001' then P.PPhase (copy = 1, index, below, above) else P.PFlip (copy = 1, index, below, above)
    | '\002' ->
      need (not shape.grouped.(index)) "a node splits a member of a group";
      let threshold = match Tensors.decode (String.get_int64_le reader.data (place + 4)) with
        | Some v -> v | None -> refuse "a threshold is not finite" in
      let who = who pinned.(index) copy in
      let below = node depth in
      let above = node depth in
      P.PInput (who, shape.slot.(index), threshold, below, above)
    | _ ->
      let group = shape.groups.(index) in
      let who = who (Array.for_all (fun i -> pinned.(i)) group) copy in
      let last = Array.length group - 1 in
      let rec child p =  (* the last category is what is left of the others *)
        let own = node (depth + p) in
        if p = last then own
        else let rest = child (p + 1) in P.PCategory (who, shape.slot.(group.(0)), p, own, rest) in
      child 0 in
  let tree = node 0 in
  need (!at = stop) "bytes follow the last node of a tree";
  let shown = if shape.flips > 0 then Checker.Flips (lemmas, tree) else Checker.Tree (lemmas, plain tree) in
  (Checker.Own shown, !count)

(* the tree of the slope rule, over one point; phases on the path, the last first, are what an empty leaf has multipliers for *)
let slope shape (ready : Checker.ready) limit reader p =
  let size key = Option.bind (Json.member key p) Json.size in
  (match size "bits" with Some b when b <= 1000 -> () | _ -> refuse "bits is malformed");
  let start, length = match (size "start", size "length") with
    | Some start, Some length -> (start, length) | _ -> refuse "proofs do not follow in order" in
  need (start = reader.taken) "proofs do not follow in order";
  need (length <= String.length reader.data - reader.taken) "certificate.bin is too short";
  let at = ref start and stop = start + length and count = ref 0 in
  reader.taken <- stop;
  let pinned = Array.of_list ready.Checker.r_pinned in
  let take size =
    let here = !at in
    need (size <= stop - here) "a node is cut short";
    at := here + size;
    here in
  let empty path =
    let place = take (1 + (4 * List.length path)) + 1 in
    let le = Array.make shape.units Checker.DOps.zero and ge = Array.make shape.units Checker.DOps.zero in
    List.iteri (fun i (j, above) ->
        let own = Int32.to_int (String.get_int32_le reader.data (place + (4 * i))) land 0xffffffff in
        let side = if above then ge else le in
        side.(j) <- Checker.DOps.add side.(j) (Tensors.num (Z.of_int own) 0)) (List.rev path);
    S.Empty (Array.to_list le, Array.to_list ge) in
  let rec node depth path =
    incr count;
    if depth > Model.deep then uncovered "a tree of so many levels";
    need (!count <= limit) "too many nodes";
    need (!at < stop) "a tree is cut short";
    match reader.data.[!at] with
    | '\000' -> ignore (take 1); S.Holds
    | '\004' -> empty path
    | '\001' | '\002' | '\003' as kind -> split (depth + 1) kind path
    | _ -> refuse "a node has an unknown kind or splits something that is not there"
  and split depth kind path =
    let place = take (if kind = '\002' then 12 else 4) in
    let copy = Char.code reader.data.[place + 1] and index = String.get_uint16_le reader.data (place + 2) in
    let there = match kind with '\001' -> shape.units | '\002' -> shape.size | _ -> Array.length shape.groups in
    need (index < there) "a node has an unknown kind or splits something that is not there";
    need (copy = 255) "a node names the wrong copy";
    let still i = need pinned.(i) "the slope rule splits a moving input" in
    match kind with
    | '\001' ->
      let below = node depth ((index, false) :: path) in
      S.SPhase (index, below, node depth ((index, true) :: path))
    | '\002' ->
      need (not shape.grouped.(index)) "a node splits a member of a group";
      still index;
      let threshold = match Tensors.decode (String.get_int64_le reader.data (place + 4)) with
        | Some v -> v | None -> refuse "a threshold is not finite" in
      let below = node depth path in
      S.SInput (shape.slot.(index), threshold, below, node depth path)
    | _ ->
      let group = shape.groups.(index) in
      Array.iter still group;
      let last = Array.length group - 1 in
      let rec child p =
        let own = node (depth + p) path in
        if p = last then own else let rest = child (p + 1) in S.SCategory (shape.slot.(group.(0)), p, own, rest) in
      child 0 in
  let tree = node 0 [] in
  need (!at = stop) "bytes follow the last node of a tree";
  (Checker.Own (Checker.Slope tree), !count)
