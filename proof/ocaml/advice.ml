(* What the proved checker asks for besides a certificate's own bytes: where to cut an interval (section 4.2), what of extra rows to
   subtract (section 4.5). It is advice: the checker bounds a row by any cuts and any multipliers, or rejects them. *)
module D = Checker.DChecker
module P = Checker.DPaper

let num q : Checker.DOps.num = { Checker.DOps.man = Q.num q; ex = Z.zero; de = Q.den q }
let value (v : Checker.DOps.num) =
  Q.make v.Checker.DOps.man (Z.shift_left v.Checker.DOps.de (Z.to_int v.Checker.DOps.ex))
let first = function [] -> Q.zero | v :: _ -> value v

(* ---- the sweep rule: kinks of hidden units inside [lo, hi], and between two of them the zeros of flip units ---- *)
(* whole numbers and what they are to be divided by *)
let whole values =
  let common = List.fold_left (fun d v -> Z.lcm d (Q.den v)) Z.one values in
  (List.map (fun v -> Z.mul (Q.num v) (Z.divexact common (Q.den v))) values, common)

(* d at every one of the points p/q, by whole numbers: what the units give is the same for all flip units *)
let flip_zeros units points (pieces : D.piece list) =
  let weights, unit = whole (List.concat_map (fun (w, c) -> [ w; c ]) units) in
  let rec relus p q = function
    | w :: c :: rest -> Z.max Z.zero (Z.add (Z.mul w p) (Z.mul c q)) :: relus p q rest
    | _ -> [] in
  let known = List.map (fun x -> (x, relus (Q.num x) (Q.den x) weights)) points in
  let of_piece (d : D.piece) =
    let numbers, part = whole (value d.D.pc :: first d.D.ps :: List.map value d.D.po) in
    let const, slope, out = match numbers with c :: s :: out -> (c, s, out) | _ -> (Z.zero, Z.zero, []) in
    let rec dot sum out relus = match (out, relus) with
      | o :: out, r :: relus -> dot (Z.add sum (Z.mul o r)) out relus
      | _ -> sum in
    let at (x, relus) =
      let affine = Z.mul unit (Z.add (Z.mul slope (Q.num x)) (Z.mul const (Q.den x))) in
      (x, dot affine out relus) in
    let exact (x, n) = Q.make n (Z.mul (Q.den x) (Z.mul unit part)) in
    let rec zeros = function
      | a :: (b :: _ as rest) when Z.sign (snd a) * Z.sign (snd b) < 0 ->
        let u = exact a and v = exact b in
        Q.sub (fst a) (Q.div (Q.mul u (Q.sub (fst b) (fst a))) (Q.sub v u)) :: zeros rest
      | _ :: rest -> zeros rest
      | [] -> [] in
    zeros (List.map at known) in
  List.concat_map of_piece pieces

let cuts (net : D.net) paper lo hi =
  let units = List.map (fun u -> let w, c = D.raw net u in (first w, value c)) net.D.units in
  let inside t = Q.lt lo t && Q.lt t hi in
  let kinks = List.filter_map (fun (w, c) -> if Q.sign w = 0 then None else Some (Q.neg (Q.div c w))) units in
  let kinks = List.sort_uniq Q.compare (List.filter inside kinks) in
  let pieces = if paper then P.flips (List.map (D.fold net) net.D.second) (List.map (D.fold net) net.D.lower) else [] in
  let zeros = flip_zeros units ((lo :: kinks) @ [ hi ]) pieces in
  List.map num (List.sort_uniq Q.compare (zeros @ kinks))

let sweep paper (ready : Checker.ready) =
  match ready.Checker.r_slots with
  | [ D.SPlain c ] ->
    let own lo hi = cuts ready.Checker.r_net paper (value lo) (value hi) in
    let one = own c.D.lo1 c.D.hi1 in
    let alike = Q.equal (value c.D.lo1) (value c.D.lo2) && Q.equal (value c.D.hi1) (value c.D.hi2) in
    Some (Checker.Sweep (one, if alike then one else own c.D.lo2 c.D.hi2))
  | _ -> None

(* ---- the signs rule: every == row with right side 0 takes its pivot out of a form ---- *)
let signs (ready : Checker.ready) (strips : (Q.t * Q.t) array) (psi : D.psi) =
  let m = Array.length strips and pinned = Array.of_list ready.Checker.r_pinned in
  let dense l = let out = Array.make m Q.zero in List.iteri (fun i v -> out.(i) <- value v) l; out in
  let both_ways (_, i) = let low, high = strips.(i) in Q.sign low < 0 && Q.sign high > 0 in
  let link (r : D.row) =
    let own = [| dense r.D.r1; dense r.D.r2 |] in
    let keys = List.filter (fun (c, i) -> Q.sign own.(c).(i) <> 0)
        (List.concat_map (fun c -> List.init m (fun i -> (c, i))) [ 0; 1 ]) in
    if r.D.eqr && Q.sign (value r.D.rhs) = 0 then
      match (List.find_opt both_ways keys, keys) with
      | Some pivot, _ | None, pivot :: _ -> Some (pivot, own)
      | None, [] -> None
    else None in
  let links = List.map link ready.Checker.r_rows in
  let multipliers l1 l2 =
    let free l = Array.mapi (fun i v -> if pinned.(i) then Q.zero else v) (dense l) in
    let form = [| free l1; free l2 |] in
    let take = function
      | None -> Checker.DOps.zero
      | Some ((c, i), own) ->
        let ratio = Q.div form.(c).(i) own.(c).(i) in
        Array.iteri (fun c line -> Array.iteri (fun i v -> form.(c).(i) <- Q.sub form.(c).(i) (Q.mul ratio v)) line) own;
        num ratio in
    let taken = List.map take links in
    (* the proved checker allows more where categories weigh alike; the specification looks at every coordinate by itself *)
    Array.iteri (fun i (low, high) ->
        let l = form.(0).(i) and r = form.(1).(i) in
        let down by = Q.sign (Q.mul l by) <= 0 in
        Report.need ((Q.sign l = 0 && Q.sign r = 0) || (Q.sign (Q.add l r) = 0 && (pinned.(i) || (down low && down high))))
          "the affine part or a unit may rise") strips;
    taken in
  let unit k (u : D.coq_unit) =
    let w, _ = D.raw ready.Checker.r_net u in
    let minus = List.map Checker.negT0 w in
    if Checker.DOps.isz k then [] else if Checker.DOps.leb Checker.DOps.zero k then multipliers w minus else multipliers minus w in
  let rec units k us = match us with
    | [] -> []
    | u :: us ->
      let own, rest = match k with [] -> (Checker.DOps.zero, []) | v :: rest -> (v, rest) in
      unit own u :: units rest us in
  Checker.Signs (multipliers psi.D.q1 psi.D.q2 :: units psi.D.k1 ready.Checker.r_net.D.units)
