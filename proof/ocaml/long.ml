(* Section 6: long numbers take long. The common denominator of what a premise leaves has a limit, and a unit of work counts
   (1 + floor(xi/2048))*(1 + floor(sigma/512)) times, xi and sigma the binary digits of the inputs and slopes of a row. *)
open Report

let most = 1 lsl 17
let unit = 2048
let steep = 512

(* the denominators of bounds and strips of the coordinates of e; one copy has no strips *)
let denominators copies (known : Checker.known0 array) items =
  let value v = Q.den (Advice.value v) in
  let own = function
    | Checker.Pass i ->
      let k = known.(i) in
      let first = [ k.Checker.k_l1; k.Checker.k_h1 ] in
      if copies = 1 then first else first @ [ k.Checker.k_l2; k.Checker.k_h2; k.Checker.k_low; k.Checker.k_high ]
    | Checker.Made (s, _) ->
      let first = [ s.Checker.s_lo; s.Checker.s_hi ] in
      if copies = 1 then first else first @ [ s.Checker.s_low; s.Checker.s_high ] in
  List.sort_uniq Z.compare (List.concat_map (fun item -> List.map value (own item)) items)

(* What an encoder makes of short numbers is short: a layer adds a few odd factors of 64 bits at most (1 - nu of its gammas, the size of a
   mean), and no number of it has more than 2^13 bits. So the limit is out of reach, and the encoder is not gone through once more for
   a factor that matters near the limit of work alone: of its coordinates those are counted that it passes on. *)
let plain (model : Model.t) (net : Checker.net0) copies known =
  let layers = List.fold_left (fun s b -> s + List.length b.Checker.steps) 0 (Option.value net.Checker.encoder ~default:[]) in
  let short common d = if Z.numbits common > 2048 then common else Z.lcm common d in
  let all = denominators copies known (List.init (Array.length known) (fun i -> Checker.Pass i)) in
  if model.Model.encoded && layers <= 256 && Z.numbits (List.fold_left short Z.one all) <= 2048 then
    Some (List.filter_map (Option.map (fun i -> Checker.Pass i)) model.Model.source)
  else None

(* the factor of a premise; one that is empty, or that the encoder does not fit, is refused where the proved checker sees it *)
let factor (model : Model.t) copies (net : Checker.net0) premise common =
  let step scale d =
    let scale = Z.lcm scale d in
    need (Z.numbits scale <= most) "the bounds of a claim have too large a common denominator";
    scale in
  let of_items known items =
    let scale = List.fold_left step (Z.shift_left Z.one model.Model.ends_bits) (denominators copies known items) in
    (1 + (Z.numbits scale / unit)) * (1 + ((Z.numbits common + model.Model.bits) / steep)) in
  match Checker.ground net.Checker.coords premise with
  | None -> 1
  | Some known ->
    let cells = Array.of_list known in
    (match plain model net copies cells with
     | Some items -> of_items cells items
     | None -> (match Checker.items_of net known with Some items -> of_items cells items | None -> 1))

(* how often a unit of the signs rule counts: an equation that takes its pivot out of a form may make the numbers of the form longer by its own *)
let signs (rows : Checker.DChecker.row list) =
  let digits v = let q = Advice.value v in Z.numbits (Q.num q) + Z.numbits (Q.den q) in
  let own (r : Checker.DChecker.row) = List.fold_left (fun most v -> max most (digits v)) 0 (r.Checker.DChecker.r1 @ r.Checker.DChecker.r2) in
  let times = 1 + (List.fold_left (fun sum r -> sum + own r) 0 rows / unit) in
  4 * times * times
