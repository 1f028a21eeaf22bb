(* Section 6: long numbers take long. The common denominator of what a premise leaves has a limit, and a unit of work counts
   1 + floor(beta/4096) times, beta the binary digits of the numbers that a row is made of. *)
open Report

let most = 1 lsl 17
let unit = 4096

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

(* the factor of a premise; one that is empty, or that the encoder does not fit, is refused where the proved checker sees it *)
let factor (model : Model.t) copies (net : Checker.net0) premise common =
  match Checker.ground net.Checker.coords premise with
  | None -> 1
  | Some known ->
    (match Checker.items_of net known with
     | None -> 1
     | Some items ->
       let step scale d =
         let scale = Z.lcm scale d in
         need (Z.numbits scale <= most) "the bounds of a claim have too large a common denominator";
         scale in
       let start = Z.shift_left Z.one model.Model.ends_bits in
       let scale = List.fold_left step start (denominators copies (Array.of_list known) items) in
       1 + ((Z.numbits scale + Z.numbits common + model.Model.bits) / unit))
