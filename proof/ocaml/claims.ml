(* Claims (sections 3 and 6): read, tested for their form, put into symbols, and handed to the proved checker. *)
open Report
module D = Checker.DChecker

type term = { coef : Q.t; copy : int; input : bool; name : string }
type row = { terms : term list; op : string; rhs : Q.t }
type t = { k : int; when_ : row list; then_ : row list; either : row list list; others : string; equal : string list; free : string list;
           sentence : string; common : Z.t }

(* a rational as text: an optional minus, one to 400 digits, optionally / and one to 400 digits that are not all zero *)
let rational text =
  let n = String.length text in
  let digits from upto = upto > from && upto - from <= 400
                         && String.for_all (fun c -> c >= '0' && c <= '9') (String.sub text from (upto - from)) in
  let first = if n > 0 && text.[0] = '-' then 1 else 0 in
  let slash = Option.value (String.index_opt text '/') ~default:n in
  need (digits first slash && (slash = n || digits (slash + 1) n)) "a number of a claim is not a rational";
  let denominator = if slash = n then Z.one else Z.of_string (String.sub text (slash + 1) (n - slash - 1)) in
  need (Z.sign denominator > 0) "a number of a claim is divided by zero";
  Q.make (Z.of_string (String.sub text 0 slash)) denominator

let read_term k inputs_only v =
  match v with
  | Json.List [ coef; copy; kind; name ] ->
    let copy = match Json.size copy with Some c when c < k -> c | _ -> refuse "a term names a copy that is not there" in
    (match (kind, name) with
     | Json.Text kind, Json.Text name when kind = "in" || (kind = "out" && not inputs_only) ->
       (match coef with
        | Json.Text c -> { coef = rational c; copy; input = kind = "in"; name }
        | _ -> refuse "a number of a claim is not a rational")
     | _ -> refuse "a term names neither an input nor an output, or not here")
  | _ -> refuse "a term is malformed"

let read_rows k inputs_only v =
  let row v =
    match (Json.is_object [ "terms"; "op"; "rhs" ] v, Json.member "terms" v, Json.member "op" v, Json.member "rhs" v) with
    | true, Some (Json.List terms), Some (Json.Text op), Some (Json.Text rhs) when op = "<=" || op = "==" ->
      { terms = List.map (read_term k inputs_only) terms; op; rhs = rational rhs }
    | _ -> refuse "a row is malformed" in
  match v with Json.List l -> List.map row l | _ -> refuse "rows of a claim are not a list"

let limit = Z.pow (Z.of_int 10) 1000

let all_rows c = c.when_ @ c.then_ @ List.concat c.either

(* right sides and coefficients *)
let numbers c = List.concat_map (fun r -> r.rhs :: List.map (fun t -> t.coef) r.terms) (all_rows c)

(* the common denominator of numbers, which may not be too large *)
let common start numbers =
  let step common q =
    let common = Z.lcm common (Q.den q) in
    need (Z.lt common limit) "the denominators of a claim have too large a common multiple";
    common in
  List.fold_left step start numbers

let read v =
  let keys = [ "copies"; "when"; "then"; "others"; "equal"; "free"; "sentence" ] in
  let clauses = Json.member "either" v in
  if Json.member "ball" v <> None then uncovered "a claim with a Euclidean norm";
  need (Json.is_object (if clauses <> None then "either" :: keys else keys) v) "a claim is malformed";
  let k = match Json.size (Json.get "copies" v) with Some k when k >= 1 && k <= 4 -> k | _ -> refuse "a claim is malformed" in
  let texts key = match Json.texts (Json.get key v) with Some l -> l | None -> refuse "a claim is malformed" in
  let text key = match Json.get key v with Json.Text t -> t | _ -> refuse "a claim is malformed" in
  let others = text "others" and sentence = text "sentence" in
  need (others = "equal" || others = "free") "a claim is malformed";
  let when_ = read_rows k true (Json.get "when" v) and then_ = read_rows k false (Json.get "then" v) in
  let either = match clauses with
    | None -> []
    | Some (Json.List (_ :: _ as l)) -> List.map (read_rows k false) l
    | Some _ -> refuse "the clauses of a claim are malformed" in
  let alternatives rows = List.length rows > 1 && List.for_all (fun r -> r.op = "<=") rows in
  need (List.for_all alternatives either) "a clause has no alternatives, or an ==";
  need (either <> [] || then_ <> []) "a claim has no conclusion";
  let c = { k; when_; then_; either; others; equal = texts "equal"; free = texts "free"; sentence; common = Z.one } in
  { c with common = common Z.one (numbers c) }

(* ---- symbols ---- *)
let access name = "[" ^ Words.quoted name ^ "]"
let letter c = String.make 1 "abcd".[c]

let row_text r =
  let one out t =
    let reference = letter t.copy ^ (if t.input then access t.name else ".out" ^ (if t.name = "" then "" else access t.name)) in
    let sign = if Q.sign t.coef < 0 then "- " else "+ " in
    let size = if Q.equal (Q.abs t.coef) Q.one then "" else Words.number (Q.abs t.coef) ^ " * " in
    let first = if Q.sign t.coef < 0 then "-" else "" in
    out ^ (if out = "" then first else " " ^ sign) ^ size ^ reference in
  let left = List.fold_left one "" r.terms in
  Printf.sprintf "%s %s %s" (if left = "" then "0" else left) r.op (Words.number r.rhs)

(* what is said of more than eight features is written once, with "*" for the feature *)
let row_texts rows =
  let shape r = match r.terms with
    | [] -> ""
    | t :: rest when List.for_all (fun s -> s.name = t.name) rest ->
      row_text { r with terms = List.map (fun t -> { t with name = "*" }) r.terms }
    | _ -> "" in
  let shapes = List.map shape rows in
  let named = Hashtbl.create 16 in
  let order = ref [] in
  List.iter2 (fun r s ->
      if s <> "" then (
        if not (Hashtbl.mem named s) then (order := s :: !order; Hashtbl.replace named s []);
        Hashtbl.replace named s ((List.hd r.terms).name :: Hashtbl.find named s))) rows shapes;
  let many s = s <> "" && List.length (Hashtbl.find named s) > 8 in
  let say s =
    let names = List.rev (Hashtbl.find named s) in
    let count = List.length names in
    Printf.sprintf "%s for each of %d features in place of \"*\": %s, %s, … %s" s count (Words.quoted (List.hd names))
      (Words.quoted (List.nth names 1)) (Words.quoted (List.nth names (count - 1))) in
  List.map say (List.filter many (List.rev !order))
  @ List.filter_map (fun (r, s) -> if many s then None else Some (row_text r)) (List.combine rows shapes)

let clause_text rows = String.concat " or " (List.map row_text rows)

let formula c =
  let names = List.init c.k letter in
  let parts = row_texts c.when_
              @ (if c.k = 1 then []
                 else List.map (fun name -> String.concat " == " (List.map (fun l -> l ^ access name) names)) c.equal
                      @ List.map (fun name -> Words.quoted name ^ " free") c.free
                      @ [ "other features " ^ c.others ]) in
  Printf.sprintf "∀ %s ∈ X: %s%s%s" (String.concat ", " names) (String.concat ", " parts) (if parts = [] then "" else " ⇒ ")
    (String.concat ", " (List.map row_text c.then_ @ List.map clause_text c.either))

(* ---- for the proved checker ---- *)
let num = Advice.num
let value = Advice.value

let lookup (domain : Model.domain) =
  let features = Hashtbl.create 64 and index = Hashtbl.create 64 in
  List.iter (fun (name, places) -> Hashtbl.replace features name places) domain.Model.features;
  List.iteri (fun i (c : Model.coordinate) -> Hashtbl.replace index c.Model.name i) domain.Model.coordinates;
  fun name ->
    match (Hashtbl.find_opt features name, Hashtbl.find_opt index name) with
    | Some places, _ -> places
    | None, Some i -> [ i ]
    | None, None -> refuse (Printf.sprintf "there is no input %s" (Words.quoted name))

let coordinate find name = match find name with
  | [ i ] -> i | _ -> refuse (Printf.sprintf "the category %s is used as a number" (Words.quoted name))

let premise find c =
  let row r = { Checker.terms = List.map (fun t -> ((num t.coef, t.copy = 1), coordinate find t.name)) r.terms;
                equal = r.op = "=="; right = num r.rhs } in
  { Checker.when0 = List.map row c.when_; others = c.others = "equal";
    equals = List.concat_map find c.equal; frees = List.concat_map find c.free }

let goal (model : Model.t) find r =
  let input t =
    let i = coordinate find t.name in
    need ((not model.Model.encoded) || List.mem (Some i) model.Model.source)
      (t.name ^ " is a conclusion's input that the encoder does not pass on");
    ((num t.coef, t.copy = 1), i) in
  let output t =
    let name = if t.name = "" && List.length model.Model.outputs = 1 then List.hd model.Model.outputs else t.name in
    let rec place i = function
      | [] -> refuse (Printf.sprintf "there is no output %s" (Words.quoted name))
      | o :: rest -> if o = name then i else place (i + 1) rest in
    ((num t.coef, t.copy = 1), place 0 model.Model.outputs) in
  { Checker.outs = List.map output (List.filter (fun t -> not t.input) r.terms);
    ins = List.map input (List.filter (fun t -> t.input) r.terms); g_equal = r.op = "=="; g_right = num r.rhs }

(* k rows of m floats *)
let witness (domain : Model.domain) k v =
  let m = List.length domain.Model.coordinates in
  let point = function
    | Json.List l when List.length l = m ->
      List.map (function Json.Real r -> Model.of_real r | _ -> refuse "a witness is malformed") l
    | _ -> refuse "a witness is malformed" in
  match v with Json.List l when List.length l = k -> List.map point l | _ -> refuse "a witness is malformed"

(* section 5.4: the room of every row, which must be allowed *)
let read_rooms (model : Model.t) c v =
  let stated = List.concat_map (fun r -> if r.op = "==" then [ r; r ] else [ r ]) c.then_ in
  let rooms = match Json.texts v with
    | Some l when List.length l = List.length stated -> List.map rational l | _ -> refuse "the room of a claim is malformed" in
  let scale r =
    let sum copy name =
      let own t = (not t.input) && t.copy = copy && (t.name = name || (t.name = "" && List.length model.Model.outputs = 1)) in
      List.fold_left (fun s t -> if own t then Q.add s t.coef else s) Q.zero r.terms in
    let used name = List.exists (fun copy -> Q.sign (sum copy name) <> 0) (List.init c.k Fun.id) in
    List.fold_left2 (fun most name s -> if used name then Q.max most (Model.to_q s) else most) Q.zero
      model.Model.outputs model.Model.scales in
  let allowed r = Q.div (if Q.sign r.rhs <> 0 then Q.abs r.rhs else scale r) (Q.of_int 1_000_000_000) in
  List.iter2 (fun room r -> need (Q.sign room >= 0 && Q.leq room (allowed r)) "a row takes too much room for rounding") rooms stated;
  rooms

type proof = Order | Leaf of Proofs.leaf | Sweep | Slope of Json.t | Signs | Mirror of int

let rule = function
  | Order -> "order" | Leaf _ -> "leaf" | Sweep -> "sweep" | Slope _ -> "slope" | Signs -> "signs" | Mirror _ -> "mirror"

let read_proofs shape where v =
  let leaf = [ "rule"; "bits"; "start"; "length"; "units" ] in
  let one p = match (Json.member "rule" p, p) with
    | Some (Json.Text "order"), p when Json.is_object [ "rule" ] p -> Order
    | Some (Json.Text "mirror"), p when Json.is_object [ "rule"; "of" ] p ->
      (match Json.size (Json.get "of" p) with Some r -> Mirror r | None -> refuse "a mirror shows no earlier row")
    | Some (Json.Text "leaf"), p when Json.is_object leaf p || Json.is_object ("lemmas" :: leaf) p -> Leaf (Proofs.leaf shape p)
    | Some (Json.Text "sweep"), p when Json.is_object [ "rule" ] p -> Sweep
    | Some (Json.Text "signs"), p when Json.is_object [ "rule" ] p -> Signs
    | Some (Json.Text "slope"), p when Json.is_object [ "rule"; "bits"; "start"; "length" ] p -> Slope p
    | Some (Json.Text "ball"), p when Json.is_object [ "rule" ] p -> uncovered (where "the ball rule")
    | _ -> refuse "a row's proof is malformed" in
  match v with Json.List l -> List.map one l | _ -> refuse "a claim has another number of rows than proofs"

(* ---- the mirror rule: rows by the order rule are shown by it themselves; what the certificate must look like besides ---- *)
let opposite (c : Checker.known0) =
  let same = Checker.eqb0 in
  same c.Checker.k_l1 c.Checker.k_l2 && same c.Checker.k_h1 c.Checker.k_h2 && same c.Checker.k_low (Checker.negT0 c.Checker.k_high)

let symmetric (net : Checker.net0) (premise : Checker.premise) (ready : Checker.ready) =
  match Checker.ground net.Checker.coords premise with
  | None -> false
  | Some known ->
    let known = Array.of_list known in
    ready.Checker.r_rows = [] && List.for_all Checker.swaps ready.Checker.r_slots
    && List.for_all (function Some i -> opposite known.(i) | None -> true) ready.Checker.r_sources

(* like terms added, zeros dropped, in order; the copies exchanged if asked for *)
let merged exchange (g : Checker.goal0) =
  let side ts =
    let key k = if exchange then not k else k in
    List.sort compare (List.map (fun ((c, k), i) -> ((key k, i), Q.to_string (value c))) (Checker.clean ts)) in
  (side g.Checker.outs, side g.Checker.ins, Q.to_string (value g.Checker.g_right))

let check_mirrors copies net premise ready goals proofs =
  let goals = Array.of_list goals and proofs = Array.of_list proofs in
  let one at = function
    | Mirror r ->
      need (copies = 2) "a mirror is for two copies";
      need (r < at && (match proofs.(r) with Mirror _ -> false | _ -> true)) "a mirror shows no earlier row";
      need (merged false goals.(at) = merged true goals.(r) && symmetric net premise (Lazy.force ready)) "a mirror shows another row"
    | _ -> () in
  Array.iteri one proofs

let digest v =
  let own = match v with Json.Object l -> Json.Object (List.remove_assoc "sentence" l) | v -> v in
  Sha256.hex (Json.encoded own)

(* what the specification asks of rows by the slope and the signs rule; the proved checker asks for less *)
let differences (model : Model.t) (goal : D.goal) =
  need model.Model.zero_gap "the rule is for boxes of no width";
  let opposite a b = List.for_all2 (fun v w -> Q.equal (value v) (Q.neg (value w))) a b in
  need (opposite goal.D.a1 goal.D.a2 && opposite goal.D.b1 goal.D.b2) "the rule is for differences"

let strips net premise (ready : Checker.ready) =
  let known = match Checker.ground net.Checker.coords premise with Some k -> Array.of_list k | None -> [||] in
  let slot = function
    | D.SPlain c -> [ Some (value c.D.dlo, value c.D.dhi) ]
    | D.SGroup (n, _, _, _) -> List.init n (fun _ -> None) in
  let own source = function
    | Some strip -> strip
    | None -> (match source with
        | Some i -> (value known.(i).Checker.k_low, value known.(i).Checker.k_high)
        | None -> (Q.zero, Q.zero)) in
  Array.of_list (List.map2 own ready.Checker.r_sources (List.concat_map slot ready.Checker.r_slots))

(* bound and margin of every row, by the proved checker, and what they were computed from (but for the order rule); those of a mirror
   are its row's, once the checker says so *)
let bounds (model : Model.t) copies spend left reader where net premise ready goals proofs =
  let shape = Proofs.shape (List.length model.Model.source) model.Model.units model.Model.flips model.Model.groups in
  let of_order = lazy (match Checker.check_order net premise goals with
      | Some shown -> Array.of_list shown
      | None -> refuse "the order rule does not apply, or a number may overflow") in
  let numbered = Array.of_list goals and found = Hashtbl.create 16 in
  let zero = Checker.DOps.zero in
  let count ?(extra = 0) ?(by = 1) nodes lemmas =
    spend nodes (Model.times by (model.Model.node_work copies nodes lemmas extra)) in
  let shown goal = function
    | Leaf leaf ->
      let shown, nodes = Proofs.read shape (Lazy.force ready) copies (left ()) reader leaf in
      count ~extra:(List.length (Lazy.force ready).Checker.r_rows) nodes leaf.Proofs.lemmas;
      shown
    | Sweep ->
      need (List.length model.Model.source = 1 && (Lazy.force ready).Checker.r_rows = []) "the sweep rule is for one input and no extra rows";
      count (model.Model.units + 1) 0;
      (match Advice.sweep (model.Model.flips > 0) (Lazy.force ready) with
       | Some own -> Checker.Own own | None -> uncovered (where "the sweep rule over a category"))
    | Slope p ->
      need (copies = 2) "the slope rule is for two copies";
      let ready = Lazy.force ready in
      need (ready.Checker.r_rows = [] && Q.sign (value goal.Checker.g_right) >= 0) "the slope rule is for right sides ≥ 0 and no extra rows";
      differences model (Checker.row_goal ready goal);
      (* an input that cannot move though it is not pinned: the specification asks for its slope, the proved checker does not *)
      let still (low, high) pinned = (not pinned) && Q.sign low = 0 && Q.sign high = 0 in
      if List.exists2 still (Array.to_list (strips net premise ready)) ready.Checker.r_pinned then
        uncovered (where "the slope rule with an input that cannot move");
      let shown, nodes = Proofs.slope shape ready (left ()) reader p in
      count nodes 0;
      shown
    | _ ->
      need (copies = 2) "the signs rule is for several copies";
      let ready = Lazy.force ready in
      let own = Checker.row_goal ready goal in
      differences model own;
      need (List.exists (fun v -> Q.sign (value v) <> 0) own.D.a1) "the signs rule is for rows over outputs";
      count ~by:(Long.signs ready.Checker.r_rows) (copies * (1 + List.length ready.Checker.r_rows)) 0;
      Checker.Own (Advice.signs ready (strips net premise ready) (D.psi_of ready.Checker.r_net own)) in
  let one at proof =
    let goal = numbered.(at) in
    let by_order reason =
      if not (Lazy.force of_order).(at) then reason ();
      ((zero, zero), None) in
    let result = match proof with
      | Order ->
        need (copies = 2) "the order rule is for two copies";
        need (model.Model.profile = "fixed-order") "the order rule is for sums in a fixed order";
        if model.Model.ends then uncovered (where "the order rule for affine gaps");
        count 1 0;
        by_order (fun () -> refuse "an output may move in the wrong direction")
      | Mirror r ->
        (match List.nth proofs r with
         | Order -> by_order (fun () -> uncovered (where "a mirror of a row that the order rule does not show"))
         | _ ->
           if not (Checker.mirrors (Lazy.force ready) goal numbered.(r)) then uncovered (where "a mirror of this kind");
           (match Hashtbl.find found r with
            | bound, Some (Checker.Own way) -> (bound, Some (Checker.Mirror (numbered.(r), way)))
            | bound, _ -> (bound, None)))
      | proof ->
        let shown = shown goal proof in
        (match Checker.bound_of (Lazy.force ready) goal shown with
         | Some b -> (b, Some shown) | None -> refuse (Printf.sprintf "the %s rule does not show a row" (rule proof))) in
    Hashtbl.replace found at result;
    result in
  List.mapi one proofs

(* the proved checker goes through all pairs of values of a category, as lists: those of 400 values take a second *)
let most_pairs = 400 * 400

(* what a claim or one of its cases is proved on *)
type task = { model : Model.t; net : Checker.net0; c : t; spend : int -> int -> unit; left : unit -> int; reader : Proofs.reader;
              where : string -> string }

(* the rows of a claim or of a case: how each is shown, its bound and margin *)
let rows_of task premise common asked node =
  let { model; net; c; spend; left; reader; where } = task in
  let shape = Proofs.shape (List.length model.Model.source) model.Model.units model.Model.flips model.Model.groups in
  let proofs = read_proofs shape where (Json.get "rows" node) in
  need (List.length proofs = List.length asked) "a claim has another number of rows than proofs";
  let long = Long.factor model c.k net premise common in
  let spend nodes work = spend nodes (long * work) in
  List.iter (fun _ -> spend 0 (model.Model.row_work c.k)) proofs;
  let member x y = Checker.witness_ok net.Checker.coords premise x y
                   && Checker.one_hot_ok net.Checker.coords x && Checker.one_hot_ok net.Checker.coords y in
  (match witness model.Model.domain c.k (Json.get "witness" node) with
   | [ x; y ] -> need (member x y) "a witness does not satisfy domain and premise"
   | [ x ] -> need (member x x) "a witness does not satisfy domain and premise"
   | _ -> refuse "a witness is malformed");
  let ready = lazy (if model.Model.pairs > most_pairs then uncovered (where "a category of so many values");
    match Checker.prepare net premise with
      | Some r -> r | None -> refuse "the encoder does not fit, or a number may overflow") in
  check_mirrors c.k net premise ready asked proofs;
  List.combine proofs (bounds model c.k spend left reader where net premise ready asked proofs)

(* a row with its room, as it is reported; [shift]: what its bound and right side are moved by *)
let told text rule goal room shift ((b, m) as pair) =
  let margin = value m in
  { text; rule; bound = Q.add (value b) shift; margin; Report.rhs = Q.add (value goal.Checker.g_right) shift;
    room = Q.min room (Q.mul (Q.of_int 2) margin); holds = Checker.accepts goal (num room) pair }

(* ---- section 3.2: a tree of splits, in each of its cases all rows and of every clause a mean; the worst of each is told ---- *)
let read_weights c node =
  let weights = match Json.get "weights" node with
    | Json.List l when List.length l = List.length c.either ->
      List.map (fun v -> match Json.texts v with Some l -> List.map rational l | None -> refuse "the weights of a case are malformed") l
    | _ -> refuse "the weights of a case are malformed" in
  (List.map (List.map num) weights, common c.common (List.concat weights))

(* section 6: what reading the claim anew costs a case whose numbers have this common denominator *)
let reading c common =
  let all = numbers c in
  let longest = List.fold_left (fun most q -> max most (Z.numbits (Q.num q))) 0 all in
  List.length all * (64 + ((longest + Z.numbits common) / 32))

let check_cases task premise rows clauses rooms root =
  let { model; net; c; spend; where; _ } = task in
  let worst = ref [] in
  let join one other =
    let most = if Q.gt (excess other) (excess one) then other else one in
    { most with holds = one.holds && other.holds } in
  let one_case premise node =
    let weights, common = read_weights c node in
    spend 0 (model.Model.claim_work + reading c common);
    let means = match Checker.means weights clauses with Some m -> m | None -> refuse "weights are not those of a mean" in
    let found = rows_of task premise common (List.map snd rows @ means) node in
    let texts = List.map (fun (r, g) -> (row_text r, g, Q.zero)) rows
                @ List.map2 (fun own g -> (clause_text own, g, Q.sub (List.hd own).rhs (value g.Checker.g_right))) c.either means in
    let count = List.length rows in
    let report i ((text, goal, shift), (proof, (pair, _))) =
      if i < count then told text (rule proof) goal (List.nth rooms i) shift pair else told text "cases" goal Q.zero shift pair in
    let own = List.mapi report (List.combine texts found) in
    worst := if !worst = [] then own else List.map2 join !worst own;
    Checker.Case (weights, List.map (fun (_, (_, shown)) -> shown) found) in
  let rec walk premise node =
    if Json.is_object [ "copy"; "coordinate"; "at"; "below"; "above" ] node then (
      match (Json.size (Json.get "copy" node), Json.size (Json.get "coordinate" node), Json.get "at" node) with
      | Some k, Some i, Json.Real at when k < c.k && i < List.length net.Checker.coords ->
        let at = Model.of_real at in
        let half up = Checker.half net.Checker.coords premise (k = 1) i at up in
        let below = walk (half false) (Json.get "below" node) in
        Checker.Cut (k = 1, i, at, below, walk (half true) (Json.get "above" node))
      | _ -> refuse "a split of cases is malformed")
    else (
      need (Json.is_object [ "weights"; "witness"; "rows" ] node) "a case is malformed";
      one_case premise node) in
  let tree = walk premise root in
  let asked = List.map2 (fun (_, g) room -> (g, num room)) rows rooms in
  let holds = List.for_all (fun r -> r.holds) !worst in
  if holds && not (Checker.check_cases net (model.Model.profile = "fixed-order") premise asked clauses tree) then uncovered (where "these cases");
  !worst

(* all rows of a claim; [spend] counts work *)
let check (model : Model.t) spend left reader number entry =
  let cases = Json.is_object [ "claim"; "claim_sha256"; "room"; "cases" ] entry in
  need (cases || Json.is_object [ "claim"; "claim_sha256"; "room"; "witness"; "rows" ] entry) "a claim's entry is malformed";
  let text = Json.get "claim" entry in
  let c = read text in
  need (Json.get "claim_sha256" entry = Json.Text (digest text)) "a claim was altered: its hash differs";
  need (cases = (c.either <> [])) "a claim with clauses is proved by cases, and no other";
  let where what = Printf.sprintf "%s (claim %d)" what number in
  let net = match model.Model.net with Ok net -> net | Error what -> uncovered what in
  let general p = match Json.member "rule" p with Some (Json.Text r) -> r = "leaf" || r = "signs" || r = "ball" | _ -> false in
  let many = match Json.member "rows" entry with Some (Json.List l) -> List.exists general l | _ -> cases in
  if c.k > 2 && many then uncovered (where (Printf.sprintf "a claim over %d copies" c.k));
  need (c.k <= 2) "this rule is for one copy or two";
  let find = lookup model.Model.domain in
  let premise = premise find c in
  let premise = if c.k = 2 then premise  (* one copy: two that are equal everywhere *)
    else { premise with Checker.equals = List.mapi (fun i _ -> i) net.Checker.coords } in
  (* every row as left <= rhs: an == row is itself and its negation *)
  let signed r sign =
    { terms = List.map (fun t -> { t with coef = Q.mul sign t.coef }) r.terms; op = "<="; rhs = Q.mul sign r.rhs } in
  let rows = List.concat_map (fun r -> if r.op = "==" then [ signed r Q.one; signed r Q.minus_one ] else [ signed r Q.one ]) c.then_ in
  let rows = List.map (fun r -> (r, goal model find r)) rows in
  let rooms = read_rooms model c (Json.get "room" entry) in
  let task = { model; net; c; spend; left; reader; where } in
  let found =
    if cases then check_cases task premise rows (List.map (List.map (goal model find)) c.either) rooms (Json.get "cases" entry)
    else (
      spend 0 model.Model.claim_work;
      let report (r, goal) ((proof, (pair, _)), room) = told (row_text r) (rule proof) goal room Q.zero pair in
      List.map2 report rows (List.combine (rows_of task premise c.common (List.map snd rows) entry) rooms)) in
  { formula = formula c; Report.sentence = c.sentence; rows = found }
