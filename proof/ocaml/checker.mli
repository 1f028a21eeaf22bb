
val negb : bool -> bool

val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> int

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val compOpp : comparison -> comparison

val pred : int -> int

val add : int -> int -> int

val mul : int -> int -> int

val eqb : bool -> bool -> bool

module Nat :
 sig
  val ltb : int -> int -> bool

  val divmod : int -> int -> int -> int -> int * int

  val div : int -> int -> int
 end

module Pos :
 sig
  type mask =
  | IsNul
  | IsPos of Big.t
  | IsNeg
 end

module Coq_Pos :
 sig
  val succ : Big.t -> Big.t

  val add : Big.t -> Big.t -> Big.t

  val add_carry : Big.t -> Big.t -> Big.t

  val pred_double : Big.t -> Big.t

  val pred_N : Big.t -> Big.t

  type mask = Pos.mask =
  | IsNul
  | IsPos of Big.t
  | IsNeg

  val succ_double_mask : mask -> mask

  val double_mask : mask -> mask

  val double_pred_mask : Big.t -> mask

  val sub_mask : Big.t -> Big.t -> mask

  val sub_mask_carry : Big.t -> Big.t -> mask

  val sub : Big.t -> Big.t -> Big.t

  val mul : Big.t -> Big.t -> Big.t

  val iter : ('a1 -> 'a1) -> 'a1 -> Big.t -> 'a1

  val div2 : Big.t -> Big.t

  val div2_up : Big.t -> Big.t

  val size_nat : Big.t -> int

  val size : Big.t -> Big.t

  val compare_cont : comparison -> Big.t -> Big.t -> comparison

  val compare : Big.t -> Big.t -> comparison

  val eqb : Big.t -> Big.t -> bool

  val gcdn : int -> Big.t -> Big.t -> Big.t

  val gcd : Big.t -> Big.t -> Big.t

  val coq_Nsucc_double : Big.t -> Big.t

  val coq_Ndouble : Big.t -> Big.t

  val coq_lor : Big.t -> Big.t -> Big.t

  val coq_land : Big.t -> Big.t -> Big.t

  val ldiff : Big.t -> Big.t -> Big.t

  val of_succ_nat : int -> Big.t
 end

module N :
 sig
  val succ_pos : Big.t -> Big.t

  val add : Big.t -> Big.t -> Big.t

  val sub : Big.t -> Big.t -> Big.t

  val compare : Big.t -> Big.t -> comparison

  val max : Big.t -> Big.t -> Big.t

  val coq_lor : Big.t -> Big.t -> Big.t

  val ldiff : Big.t -> Big.t -> Big.t
 end

val hd : 'a1 -> 'a1 list -> 'a1

val tl : 'a1 list -> 'a1 list

val nth : int -> 'a1 list -> 'a1 -> 'a1

val nth_error : 'a1 list -> int -> 'a1 option

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val list_prod : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val firstn : int -> 'a1 list -> 'a1 list

val skipn : int -> 'a1 list -> 'a1 list

val seq : int -> int -> int list

val repeat : 'a1 -> int -> 'a1 list

module Z :
 sig
  val double : Big.t -> Big.t

  val succ_double : Big.t -> Big.t

  val pred_double : Big.t -> Big.t

  val pos_sub : Big.t -> Big.t -> Big.t

  val add : Big.t -> Big.t -> Big.t

  val opp : Big.t -> Big.t

  val sub : Big.t -> Big.t -> Big.t

  val mul : Big.t -> Big.t -> Big.t

  val pow_pos : Big.t -> Big.t -> Big.t

  val pow : Big.t -> Big.t -> Big.t

  val compare : Big.t -> Big.t -> comparison

  val leb : Big.t -> Big.t -> bool

  val ltb : Big.t -> Big.t -> bool

  val eqb : Big.t -> Big.t -> bool

  val abs : Big.t -> Big.t

  val to_N : Big.t -> Big.t

  val of_nat : int -> Big.t

  val of_N : Big.t -> Big.t

  val to_pos : Big.t -> Big.t

  val pos_div_eucl : Big.t -> Big.t -> Big.t * Big.t

  val div_eucl : Big.t -> Big.t -> Big.t * Big.t

  val div : Big.t -> Big.t -> Big.t

  val div2 : Big.t -> Big.t

  val log2 : Big.t -> Big.t

  val gcd : Big.t -> Big.t -> Big.t

  val shiftl : Big.t -> Big.t -> Big.t

  val shiftr : Big.t -> Big.t -> Big.t

  val coq_land : Big.t -> Big.t -> Big.t
 end

module type OPS =
 sig
  type coq_T

  val zero : coq_T

  val one : coq_T

  val add : coq_T -> coq_T -> coq_T

  val sub : coq_T -> coq_T -> coq_T

  val mul : coq_T -> coq_T -> coq_T

  val leb : coq_T -> coq_T -> bool

  val isz : coq_T -> bool

  val floor : coq_T -> coq_T

  val frac : Big.t -> Big.t -> coq_T

  val dyad : Big.t -> Big.t -> coq_T
 end

module DOps :
 sig
  type num = { man : Big.t; ex : Big.t; de : Big.t }

  val man : num -> Big.t

  val ex : num -> Big.t

  val de : num -> Big.t

  type coq_T = num

  val two : Big.t -> Big.t

  val zero : coq_T

  val one : coq_T

  val mul : coq_T -> coq_T -> coq_T

  val up : Big.t -> Big.t -> Big.t -> Big.t

  val lift : (Big.t -> Big.t -> Big.t) -> coq_T -> coq_T -> coq_T

  val add : coq_T -> coq_T -> coq_T

  val sub : coq_T -> coq_T -> coq_T

  val leb : coq_T -> coq_T -> bool

  val isz : coq_T -> bool

  val floor : coq_T -> coq_T

  val frac : Big.t -> Big.t -> coq_T

  val dyad : Big.t -> Big.t -> coq_T
 end

module Checker :
 functor (O:OPS) ->
 sig
  type vec = O.coq_T list

  val hd0 : vec -> O.coq_T

  val nth0 : int -> vec -> O.coq_T

  val axpy' : O.coq_T -> vec -> vec -> vec

  val axpy : O.coq_T -> vec -> vec -> vec

  val times : vec -> vec -> vec

  val dotT : vec -> vec -> O.coq_T

  val maxT : O.coq_T -> O.coq_T -> O.coq_T

  val minT : O.coq_T -> O.coq_T -> O.coq_T

  val maxl : O.coq_T list -> O.coq_T option

  val minl : O.coq_T list -> O.coq_T option

  val negT : O.coq_T -> O.coq_T

  val absT : O.coq_T -> O.coq_T

  type plain = { lo1 : O.coq_T; hi1 : O.coq_T; lo2 : O.coq_T; hi2 : O.coq_T;
                 dlo : O.coq_T; dhi : O.coq_T; whole : bool }

  val lo1 : plain -> O.coq_T

  val hi1 : plain -> O.coq_T

  val lo2 : plain -> O.coq_T

  val hi2 : plain -> O.coq_T

  val dlo : plain -> O.coq_T

  val dhi : plain -> O.coq_T

  val whole : plain -> bool

  type slot =
  | SPlain of plain
  | SGroup of int * int list * int list * (int * int) list

  val slot_rect :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val slot_rec :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val lo : bool -> plain -> O.coq_T

  val hi : bool -> plain -> O.coq_T

  val span : bool -> slot list -> vec -> (O.coq_T * O.coq_T) option

  val diff : slot list -> vec -> (O.coq_T * O.coq_T) option

  val candx :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val candy :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val max2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T option

  val affmax : slot list -> vec -> vec -> O.coq_T option

  val pieces :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
    (O.coq_T * (O.coq_T * O.coq_T)) list

  val opts : O.coq_T option list -> O.coq_T list

  val relu2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T option

  type coq_unit = vec * O.coq_T

  type phase = bool * bool

  type phases = (phase * phase) list

  val hdp : phases -> phase * phase

  val cuta : phase -> O.coq_T -> O.coq_T

  val cutb : phase -> O.coq_T -> O.coq_T

  val hidden :
    slot list -> coq_unit list -> phases -> vec -> vec -> vec -> vec ->
    O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type row = { r1 : vec; r2 : vec; rhs : O.coq_T; eqr : bool }

  val r1 : row -> vec

  val r2 : row -> vec

  val rhs : row -> O.coq_T

  val eqr : row -> bool

  val extras :
    row list -> vec -> O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type psi = { const : O.coq_T; q1 : vec; q2 : vec; k1 : vec; k2 : vec }

  val const : psi -> O.coq_T

  val q1 : psi -> vec

  val q2 : psi -> vec

  val k1 : psi -> vec

  val k2 : psi -> vec

  type res =
  | Rejected
  | Closed
  | Bound of O.coq_T

  val res_rect : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  val res_rec : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  type cell = { slots : slot list; phs : phases }

  val slots : cell -> slot list

  val phs : cell -> phases

  type lemma = { lj : int; lb1 : O.coq_T; lb2 : O.coq_T; lg1 : vec;
                 lg2 : vec; lth : (O.coq_T * O.coq_T) list }

  val lj : lemma -> int

  val lb1 : lemma -> O.coq_T

  val lb2 : lemma -> O.coq_T

  val lg1 : lemma -> vec

  val lg2 : lemma -> vec

  val lth : lemma -> (O.coq_T * O.coq_T) list

  type known = { kj : int; kb1 : O.coq_T; kb2 : O.coq_T; kg1 : vec;
                 kg2 : vec; kr : O.coq_T }

  val kj : known -> int

  val kb1 : known -> O.coq_T

  val kb2 : known -> O.coq_T

  val kg1 : known -> vec

  val kg2 : known -> vec

  val kr : known -> O.coq_T

  val theta : O.coq_T -> O.coq_T -> bool -> O.coq_T

  val flags : O.coq_T -> bool list

  val given : lemma -> bool -> bool -> O.coq_T * O.coq_T

  val prove1 :
    slot list -> vec -> O.coq_T -> lemma -> bool -> bool -> O.coq_T option

  val prove : slot list -> coq_unit list -> lemma -> known option

  val proves : slot list -> coq_unit list -> lemma list -> known list option

  val addat : int -> O.coq_T -> vec -> vec

  val added : known list -> vec -> psi -> psi option

  val leaf :
    coq_unit list -> row list -> known list -> psi -> cell -> vec -> vec ->
    vec -> vec -> res

  type who =
  | First
  | Second
  | Both

  val who_rect : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  val who_rec : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  type tree =
  | Leaf of vec * vec * vec * vec
  | Phase of bool * int * tree * tree
  | Input of who * int * O.coq_T * tree * tree
  | Category of who * int * int * tree * tree

  val tree_rect :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val tree_rec :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val setph : bool -> bool -> int -> phases -> phases

  val update : (slot -> slot) -> int -> slot list -> slot list

  val pinned : plain -> bool

  val below : who -> O.coq_T -> slot -> slot

  val above : who -> O.coq_T -> slot -> slot

  val keep : who -> (int -> bool) -> slot -> slot

  val on : (slot -> slot) -> int -> cell -> cell

  val join : res -> res -> res

  val bound :
    coq_unit list -> row list -> known list -> psi -> cell -> tree -> res

  type piece = { pc : O.coq_T; ps : vec; po : vec }

  val pc : piece -> O.coq_T

  val ps : piece -> vec

  val po : piece -> vec

  type net = { mult : vec; shift : vec; units : coq_unit list;
               lower : piece list; second : piece list; head : coq_unit list }

  val mult : net -> vec

  val shift : net -> vec

  val units : net -> coq_unit list

  val lower : net -> piece list

  val second : net -> piece list

  val head : net -> coq_unit list

  type goal = { a1 : vec; a2 : vec; b1 : vec; b2 : vec; limit : O.coq_T;
                margins : vec }

  val a1 : goal -> vec

  val a2 : goal -> vec

  val b1 : goal -> vec

  val b2 : goal -> vec

  val limit : goal -> O.coq_T

  val margins : goal -> vec

  val raw : net -> coq_unit -> coq_unit

  val fold : net -> piece -> piece

  val posT : O.coq_T -> O.coq_T

  val through : vec -> coq_unit list -> vec * O.coq_T

  val reduce :
    vec -> piece list -> piece list -> (O.coq_T * (vec * vec)) ->
    O.coq_T * (vec * vec)

  val reduced : net -> vec -> vec -> O.coq_T * (vec * vec)

  val psi_of : net -> goal -> psi

  val dims : slot list -> int

  val fits : net -> slot list -> bool

  val nonneg : net -> slot list -> bool -> piece -> bool

  val groups_ok : slot -> bool

  val margin : vec -> vec -> O.coq_T

  val root : net -> slot list -> cell

  val run : net -> slot list -> row list -> goal -> lemma list -> tree -> res

  val check :
    net -> slot list -> row list -> goal -> lemma list -> tree -> bool
 end

module DChecker :
 sig
  type vec = DOps.coq_T list

  val hd0 : vec -> DOps.coq_T

  val nth0 : int -> vec -> DOps.coq_T

  val axpy' : DOps.coq_T -> vec -> vec -> vec

  val axpy : DOps.coq_T -> vec -> vec -> vec

  val times : vec -> vec -> vec

  val dotT : vec -> vec -> DOps.coq_T

  val maxT : DOps.coq_T -> DOps.coq_T -> DOps.coq_T

  val minT : DOps.coq_T -> DOps.coq_T -> DOps.coq_T

  val maxl : DOps.coq_T list -> DOps.coq_T option

  val minl : DOps.coq_T list -> DOps.coq_T option

  val negT : DOps.coq_T -> DOps.coq_T

  val absT : DOps.coq_T -> DOps.coq_T

  type plain = { lo1 : DOps.coq_T; hi1 : DOps.coq_T; lo2 : DOps.coq_T;
                 hi2 : DOps.coq_T; dlo : DOps.coq_T; dhi : DOps.coq_T;
                 whole : bool }

  val lo1 : plain -> DOps.coq_T

  val hi1 : plain -> DOps.coq_T

  val lo2 : plain -> DOps.coq_T

  val hi2 : plain -> DOps.coq_T

  val dlo : plain -> DOps.coq_T

  val dhi : plain -> DOps.coq_T

  val whole : plain -> bool

  type slot =
  | SPlain of plain
  | SGroup of int * int list * int list * (int * int) list

  val slot_rect :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val slot_rec :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val lo : bool -> plain -> DOps.coq_T

  val hi : bool -> plain -> DOps.coq_T

  val span : bool -> slot list -> vec -> (DOps.coq_T * DOps.coq_T) option

  val diff : slot list -> vec -> (DOps.coq_T * DOps.coq_T) option

  val candx :
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T ->
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T list

  val candy :
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T ->
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T list

  val max2 :
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T ->
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T option

  val affmax : slot list -> vec -> vec -> DOps.coq_T option

  val pieces :
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T ->
    (DOps.coq_T * (DOps.coq_T * DOps.coq_T)) list

  val opts : DOps.coq_T option list -> DOps.coq_T list

  val relu2 :
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T ->
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T ->
    DOps.coq_T option

  type coq_unit = vec * DOps.coq_T

  type phase = bool * bool

  type phases = (phase * phase) list

  val hdp : phases -> phase * phase

  val cuta : phase -> DOps.coq_T -> DOps.coq_T

  val cutb : phase -> DOps.coq_T -> DOps.coq_T

  val hidden :
    slot list -> coq_unit list -> phases -> vec -> vec -> vec -> vec ->
    DOps.coq_T -> vec -> vec -> (DOps.coq_T * (vec * vec)) option

  type row = { r1 : vec; r2 : vec; rhs : DOps.coq_T; eqr : bool }

  val r1 : row -> vec

  val r2 : row -> vec

  val rhs : row -> DOps.coq_T

  val eqr : row -> bool

  val extras :
    row list -> vec -> DOps.coq_T -> vec -> vec -> (DOps.coq_T * (vec * vec))
    option

  type psi = { const : DOps.coq_T; q1 : vec; q2 : vec; k1 : vec; k2 : vec }

  val const : psi -> DOps.coq_T

  val q1 : psi -> vec

  val q2 : psi -> vec

  val k1 : psi -> vec

  val k2 : psi -> vec

  type res =
  | Rejected
  | Closed
  | Bound of DOps.coq_T

  val res_rect : 'a1 -> 'a1 -> (DOps.coq_T -> 'a1) -> res -> 'a1

  val res_rec : 'a1 -> 'a1 -> (DOps.coq_T -> 'a1) -> res -> 'a1

  type cell = { slots : slot list; phs : phases }

  val slots : cell -> slot list

  val phs : cell -> phases

  type lemma = { lj : int; lb1 : DOps.coq_T; lb2 : DOps.coq_T; lg1 : 
                 vec; lg2 : vec; lth : (DOps.coq_T * DOps.coq_T) list }

  val lj : lemma -> int

  val lb1 : lemma -> DOps.coq_T

  val lb2 : lemma -> DOps.coq_T

  val lg1 : lemma -> vec

  val lg2 : lemma -> vec

  val lth : lemma -> (DOps.coq_T * DOps.coq_T) list

  type known = { kj : int; kb1 : DOps.coq_T; kb2 : DOps.coq_T; kg1 : 
                 vec; kg2 : vec; kr : DOps.coq_T }

  val kj : known -> int

  val kb1 : known -> DOps.coq_T

  val kb2 : known -> DOps.coq_T

  val kg1 : known -> vec

  val kg2 : known -> vec

  val kr : known -> DOps.coq_T

  val theta : DOps.coq_T -> DOps.coq_T -> bool -> DOps.coq_T

  val flags : DOps.coq_T -> bool list

  val given : lemma -> bool -> bool -> DOps.coq_T * DOps.coq_T

  val prove1 :
    slot list -> vec -> DOps.coq_T -> lemma -> bool -> bool -> DOps.coq_T
    option

  val prove : slot list -> coq_unit list -> lemma -> known option

  val proves : slot list -> coq_unit list -> lemma list -> known list option

  val addat : int -> DOps.coq_T -> vec -> vec

  val added : known list -> vec -> psi -> psi option

  val leaf :
    coq_unit list -> row list -> known list -> psi -> cell -> vec -> vec ->
    vec -> vec -> res

  type who =
  | First
  | Second
  | Both

  val who_rect : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  val who_rec : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  type tree =
  | Leaf of vec * vec * vec * vec
  | Phase of bool * int * tree * tree
  | Input of who * int * DOps.coq_T * tree * tree
  | Category of who * int * int * tree * tree

  val tree_rect :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> DOps.coq_T -> tree -> 'a1 -> tree -> 'a1
    -> 'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) ->
    tree -> 'a1

  val tree_rec :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> DOps.coq_T -> tree -> 'a1 -> tree -> 'a1
    -> 'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) ->
    tree -> 'a1

  val setph : bool -> bool -> int -> phases -> phases

  val update : (slot -> slot) -> int -> slot list -> slot list

  val pinned : plain -> bool

  val below : who -> DOps.coq_T -> slot -> slot

  val above : who -> DOps.coq_T -> slot -> slot

  val keep : who -> (int -> bool) -> slot -> slot

  val on : (slot -> slot) -> int -> cell -> cell

  val join : res -> res -> res

  val bound :
    coq_unit list -> row list -> known list -> psi -> cell -> tree -> res

  type piece = { pc : DOps.coq_T; ps : vec; po : vec }

  val pc : piece -> DOps.coq_T

  val ps : piece -> vec

  val po : piece -> vec

  type net = { mult : vec; shift : vec; units : coq_unit list;
               lower : piece list; second : piece list; head : coq_unit list }

  val mult : net -> vec

  val shift : net -> vec

  val units : net -> coq_unit list

  val lower : net -> piece list

  val second : net -> piece list

  val head : net -> coq_unit list

  type goal = { a1 : vec; a2 : vec; b1 : vec; b2 : vec; limit : DOps.coq_T;
                margins : vec }

  val a1 : goal -> vec

  val a2 : goal -> vec

  val b1 : goal -> vec

  val b2 : goal -> vec

  val limit : goal -> DOps.coq_T

  val margins : goal -> vec

  val raw : net -> coq_unit -> coq_unit

  val fold : net -> piece -> piece

  val posT : DOps.coq_T -> DOps.coq_T

  val through : vec -> coq_unit list -> vec * DOps.coq_T

  val reduce :
    vec -> piece list -> piece list -> (DOps.coq_T * (vec * vec)) ->
    DOps.coq_T * (vec * vec)

  val reduced : net -> vec -> vec -> DOps.coq_T * (vec * vec)

  val psi_of : net -> goal -> psi

  val dims : slot list -> int

  val fits : net -> slot list -> bool

  val nonneg : net -> slot list -> bool -> piece -> bool

  val groups_ok : slot -> bool

  val margin : vec -> vec -> DOps.coq_T

  val root : net -> slot list -> cell

  val run : net -> slot list -> row list -> goal -> lemma list -> tree -> res

  val check :
    net -> slot list -> row list -> goal -> lemma list -> tree -> bool
 end

type num0 = DOps.coq_T

val ltb0 : num0 -> num0 -> bool

val eqb0 : num0 -> num0 -> bool

val fromZ : Big.t -> num0

val maxT0 : num0 -> num0 -> num0

val minT0 : num0 -> num0 -> num0

val negT0 : num0 -> num0

val absT0 : num0 -> num0

val trailing : Big.t -> Big.t

val norm : num0 -> num0

val digits : num0 -> Big.t

val div0 : num0 -> num0 -> num0

val ceil : num0 -> num0

val uT : num0

val etaT : num0

val hugeT : num0

val topT : num0

val fits_gamma : int -> bool

val gammaT : int -> num0

val floatb : num0 -> bool

type spread = { s_lo : DOps.num; s_hi : DOps.num; s_low : DOps.num;
                s_high : DOps.num; s_up : bool; s_down : bool }

val mapo : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 list option

val short : DOps.num -> bool

val settle :
  DOps.num -> DOps.num -> DOps.num -> DOps.num -> bool -> bool -> spread
  option

val size0 : spread -> DOps.num

val same : spread -> bool

val sum_of : (spread -> DOps.num) -> spread list -> DOps.num

val max_of : (spread -> DOps.num) -> spread list -> DOps.num

val twice : DOps.num -> DOps.num

val scale_err : DOps.num -> DOps.num -> DOps.num

val ramp_spread :
  spread list -> ((int * DOps.num) * DOps.num) -> spread option

val ext :
  (spread -> DOps.num) -> (spread -> DOps.num) -> DOps.num list -> spread
  list -> DOps.num

val rising :
  (spread -> bool) -> (spread -> bool) -> DOps.num list -> spread list -> bool

val abs_dot : DOps.num list -> DOps.num list -> DOps.num

val abs_sum : DOps.num list -> DOps.num

val linear_err : int -> DOps.num -> DOps.num -> DOps.num -> DOps.num

val row_spread :
  spread list -> DOps.num list -> DOps.num -> (DOps.num list * DOps.num) ->
  spread option

val rows_spread :
  spread list -> (DOps.num list * DOps.num) list -> spread list option

val kink_spread :
  (DOps.num -> DOps.num -> DOps.num) -> spread -> spread option

val kinks_spread : int -> spread list -> spread list option

val blocks : int -> int -> int list list

val mean_spread : spread list -> int list -> spread option

val abs_max : DOps.num list -> DOps.num

val distance_spread :
  spread list -> (DOps.num list * DOps.num) -> spread option

type tree0 =
| Tip of DOps.num
| Ask of int * DOps.num * tree0 * tree0

val extreme :
  (DOps.num -> DOps.num -> DOps.num) -> (spread -> DOps.num) -> spread ->
  spread list -> DOps.num

val set_spread : spread list -> int list -> spread option

type four = { f_lo : DOps.num; f_hi : DOps.num; f_low : DOps.num;
              f_high : DOps.num }

val joined : four -> four -> bool -> bool -> four

val tree_four : spread list -> tree0 -> four option

type piece0 = { p_ask : int; p_low : DOps.num; p_high : DOps.num;
                p_above : DOps.num option; p_upto : DOps.num option }

val sooner : DOps.num option -> DOps.num -> DOps.num option

val later : DOps.num option -> DOps.num -> DOps.num option

val cut_piece : bool -> DOps.num -> piece0 -> piece0

val narrow : spread -> int -> bool -> DOps.num -> piece0 list -> piece0 list

val open_leaves :
  spread list -> tree0 -> piece0 list -> (DOps.num * piece0 list) list

val apart : piece0 -> piece0 -> bool

val a_pair : piece0 list -> piece0 list -> bool

val compared :
  (DOps.num * piece0 list) -> (DOps.num * piece0 list) ->
  (DOps.num * DOps.num) -> DOps.num * DOps.num

val against :
  (DOps.num * piece0 list) -> (DOps.num * piece0 list) list ->
  (DOps.num * DOps.num) -> DOps.num * DOps.num

val by_pairs :
  (DOps.num * piece0 list) list -> (DOps.num * piece0 list) list ->
  (DOps.num * DOps.num) -> DOps.num * DOps.num

val leaves : tree0 -> Big.t

val tree_spread : spread list -> tree0 -> spread option

val sum_spread : spread list -> (DOps.num * tree0 list) -> spread option

val trees_spread :
  int list list -> (DOps.num * tree0 list) list -> spread list -> spread list
  option

type layer =
| Ramps of ((int * DOps.num) * DOps.num) list
| Linear of bool * (DOps.num list * DOps.num) list
| Kinks of int
| Pool of int * int
| Distance of (DOps.num list * DOps.num) list
| Trees of int list list * (DOps.num * tree0 list) list

val layer_spread : layer -> spread list -> spread list -> spread list option

val layers_spread :
  layer list -> spread list -> spread list option -> spread list option

type coord = { c_lo : DOps.num; c_hi : DOps.num; c_shift : DOps.num;
               c_mult : DOps.num; c_whole : bool; c_group : bool;
               c_feature : int }

type term = (DOps.num * bool) * int

type row0 = { terms : term list; equal : bool; right : DOps.num }

type premise = { when0 : row0 list; others : bool; equals : int list;
                 frees : int list }

val feature_of : coord list -> int -> int option

val named : coord list -> premise -> int list

val insert : DOps.num -> bool -> int -> term list -> term list

val merge : term list -> term list

val clean : term list -> term list

type cell0 = { l1 : DOps.num; h1 : DOps.num; l2 : DOps.num; h2 : DOps.num;
               d_lo : DOps.num option; d_hi : DOps.num option }

val omax : DOps.num option -> DOps.num -> DOps.num option

val omin : DOps.num option -> DOps.num -> DOps.num option

val bounded : bool -> DOps.num -> DOps.num -> bool -> cell0 -> cell0

val stripped : DOps.num -> DOps.num -> bool -> cell0 -> cell0

val update0 : int -> (cell0 -> cell0) -> cell0 list -> cell0 list

val apply : row0 -> cell0 list -> cell0 list option

val apply_all : row0 list -> cell0 list -> cell0 list option

type known0 = { k_l1 : DOps.num; k_h1 : DOps.num; k_l2 : DOps.num;
                k_h2 : DOps.num; k_low : DOps.num; k_high : DOps.num;
                k_pinned : bool }

val up0 : bool -> DOps.num -> DOps.num

val down : bool -> DOps.num -> DOps.num

val finish1 : bool -> coord -> cell0 -> known0

val pin_stated : premise -> int list -> int -> coord -> bool

val finish :
  premise -> int list -> int -> coord list -> cell0 list -> known0 list

val start : coord -> cell0

val ground : coord list -> premise -> known0 list option

val coord_ok : coord -> DOps.num -> bool

val domain_ok : coord list -> DOps.num list -> bool

val left_num : DOps.num list -> DOps.num list -> term list -> DOps.num

val row_ok : DOps.num list -> DOps.num list -> row0 -> bool

val pins_ok :
  premise -> int list -> int -> coord list -> DOps.num list -> DOps.num list
  -> bool

val witness_ok :
  coord list -> premise -> DOps.num list -> DOps.num list -> bool

type branch = { columns : int list; steps : layer list; pinned0 : int option;
                box : (DOps.num * DOps.num) list }

type part = { hidden0 : (DOps.num list * DOps.num) list; skips : bool;
              sums : (DOps.num list * DOps.num) list }

type boxes =
| Gap
| Paper

type net0 = { coords : coord list; encoder : branch list option;
              kind : boxes; ends : bool; lower0 : part; second0 : part;
              head0 : ((DOps.num list * DOps.num) * DOps.num) list }

val bind : 'a1 option -> ('a1 -> 'a2 option) -> 'a2 option

val passes : branch -> bool

val far : coord -> DOps.num

val plain0 : coord -> bool

val error : coord -> DOps.num

val scales : coord -> bool

val input_size : coord -> DOps.num

type dir = bool * bool

val move : bool -> bool -> DOps.num -> DOps.num -> dir option

val raw_spread : coord -> known0 -> spread option

type moving = dir option * DOps.num

val pass_moving : coord -> known0 -> moving

val cut_moving : (DOps.num * DOps.num) -> spread -> moving option

val pinned_moving : bool -> (DOps.num * DOps.num) -> moving option

val map2o :
  ('a1 -> 'a2 -> 'a3 option) -> 'a1 list -> 'a2 list -> 'a3 list option

val branch_moving : coord list -> known0 list -> branch -> moving list option

val encoder_moving :
  coord list -> known0 list -> branch list -> moving list option

val pass_all : coord list -> known0 list -> moving list

val inputs_moving : net0 -> known0 list -> moving list option

val row_size :
  DOps.num list -> DOps.num -> (DOps.num list * DOps.num) -> DOps.num option

val rows_size :
  DOps.num list -> (DOps.num list * DOps.num) list -> DOps.num list option

val part_size : part -> DOps.num list -> DOps.num list option

val upper_size : DOps.num -> DOps.num -> DOps.num option

val head_fits :
  DOps.num list -> DOps.num -> ((DOps.num list * DOps.num) * DOps.num) -> bool

val combine : bool -> DOps.num list -> dir list -> bool

val sum_dir : dir list -> DOps.num list -> dir

val zero_row : (DOps.num list * DOps.num) -> bool

val outputs_dir : net0 -> moving list -> dir list option

type goal0 = { outs : term list; ins : term list; g_equal : bool;
               g_right : DOps.num }

val coef : bool -> int -> term list -> DOps.num

val below0 : int -> term list -> bool

val outs_le : bool -> term list -> int -> dir list -> bool

val no_inputs : int -> term list -> bool

val order_row : int -> dir list -> goal0 -> bool

val check_order : net0 -> premise -> goal0 list -> bool list option

module PaperChecker :
 functor (O:OPS) ->
 functor (C:sig
  type vec = O.coq_T list

  val hd0 : vec -> O.coq_T

  val nth0 : int -> vec -> O.coq_T

  val axpy' : O.coq_T -> vec -> vec -> vec

  val axpy : O.coq_T -> vec -> vec -> vec

  val times : vec -> vec -> vec

  val dotT : vec -> vec -> O.coq_T

  val maxT : O.coq_T -> O.coq_T -> O.coq_T

  val minT : O.coq_T -> O.coq_T -> O.coq_T

  val maxl : O.coq_T list -> O.coq_T option

  val minl : O.coq_T list -> O.coq_T option

  val negT : O.coq_T -> O.coq_T

  val absT : O.coq_T -> O.coq_T

  type plain = { lo1 : O.coq_T; hi1 : O.coq_T; lo2 : O.coq_T; hi2 : O.coq_T;
                 dlo : O.coq_T; dhi : O.coq_T; whole : bool }

  val lo1 : plain -> O.coq_T

  val hi1 : plain -> O.coq_T

  val lo2 : plain -> O.coq_T

  val hi2 : plain -> O.coq_T

  val dlo : plain -> O.coq_T

  val dhi : plain -> O.coq_T

  val whole : plain -> bool

  type slot =
  | SPlain of plain
  | SGroup of int * int list * int list * (int * int) list

  val slot_rect :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val slot_rec :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val lo : bool -> plain -> O.coq_T

  val hi : bool -> plain -> O.coq_T

  val span : bool -> slot list -> vec -> (O.coq_T * O.coq_T) option

  val diff : slot list -> vec -> (O.coq_T * O.coq_T) option

  val candx :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val candy :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val max2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T option

  val affmax : slot list -> vec -> vec -> O.coq_T option

  val pieces :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
    (O.coq_T * (O.coq_T * O.coq_T)) list

  val opts : O.coq_T option list -> O.coq_T list

  val relu2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T option

  type coq_unit = vec * O.coq_T

  type phase = bool * bool

  type phases = (phase * phase) list

  val hdp : phases -> phase * phase

  val cuta : phase -> O.coq_T -> O.coq_T

  val cutb : phase -> O.coq_T -> O.coq_T

  val hidden :
    slot list -> coq_unit list -> phases -> vec -> vec -> vec -> vec ->
    O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type row = { r1 : vec; r2 : vec; rhs : O.coq_T; eqr : bool }

  val r1 : row -> vec

  val r2 : row -> vec

  val rhs : row -> O.coq_T

  val eqr : row -> bool

  val extras :
    row list -> vec -> O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type psi = { const : O.coq_T; q1 : vec; q2 : vec; k1 : vec; k2 : vec }

  val const : psi -> O.coq_T

  val q1 : psi -> vec

  val q2 : psi -> vec

  val k1 : psi -> vec

  val k2 : psi -> vec

  type res =
  | Rejected
  | Closed
  | Bound of O.coq_T

  val res_rect : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  val res_rec : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  type cell = { slots : slot list; phs : phases }

  val slots : cell -> slot list

  val phs : cell -> phases

  type lemma = { lj : int; lb1 : O.coq_T; lb2 : O.coq_T; lg1 : vec;
                 lg2 : vec; lth : (O.coq_T * O.coq_T) list }

  val lj : lemma -> int

  val lb1 : lemma -> O.coq_T

  val lb2 : lemma -> O.coq_T

  val lg1 : lemma -> vec

  val lg2 : lemma -> vec

  val lth : lemma -> (O.coq_T * O.coq_T) list

  type known = { kj : int; kb1 : O.coq_T; kb2 : O.coq_T; kg1 : vec;
                 kg2 : vec; kr : O.coq_T }

  val kj : known -> int

  val kb1 : known -> O.coq_T

  val kb2 : known -> O.coq_T

  val kg1 : known -> vec

  val kg2 : known -> vec

  val kr : known -> O.coq_T

  val theta : O.coq_T -> O.coq_T -> bool -> O.coq_T

  val flags : O.coq_T -> bool list

  val given : lemma -> bool -> bool -> O.coq_T * O.coq_T

  val prove1 :
    slot list -> vec -> O.coq_T -> lemma -> bool -> bool -> O.coq_T option

  val prove : slot list -> coq_unit list -> lemma -> known option

  val proves : slot list -> coq_unit list -> lemma list -> known list option

  val addat : int -> O.coq_T -> vec -> vec

  val added : known list -> vec -> psi -> psi option

  val leaf :
    coq_unit list -> row list -> known list -> psi -> cell -> vec -> vec ->
    vec -> vec -> res

  type who =
  | First
  | Second
  | Both

  val who_rect : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  val who_rec : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  type tree =
  | Leaf of vec * vec * vec * vec
  | Phase of bool * int * tree * tree
  | Input of who * int * O.coq_T * tree * tree
  | Category of who * int * int * tree * tree

  val tree_rect :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val tree_rec :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val setph : bool -> bool -> int -> phases -> phases

  val update : (slot -> slot) -> int -> slot list -> slot list

  val pinned : plain -> bool

  val below : who -> O.coq_T -> slot -> slot

  val above : who -> O.coq_T -> slot -> slot

  val keep : who -> (int -> bool) -> slot -> slot

  val on : (slot -> slot) -> int -> cell -> cell

  val join : res -> res -> res

  val bound :
    coq_unit list -> row list -> known list -> psi -> cell -> tree -> res

  type piece = { pc : O.coq_T; ps : vec; po : vec }

  val pc : piece -> O.coq_T

  val ps : piece -> vec

  val po : piece -> vec

  type net = { mult : vec; shift : vec; units : coq_unit list;
               lower : piece list; second : piece list; head : coq_unit list }

  val mult : net -> vec

  val shift : net -> vec

  val units : net -> coq_unit list

  val lower : net -> piece list

  val second : net -> piece list

  val head : net -> coq_unit list

  type goal = { a1 : vec; a2 : vec; b1 : vec; b2 : vec; limit : O.coq_T;
                margins : vec }

  val a1 : goal -> vec

  val a2 : goal -> vec

  val b1 : goal -> vec

  val b2 : goal -> vec

  val limit : goal -> O.coq_T

  val margins : goal -> vec

  val raw : net -> coq_unit -> coq_unit

  val fold : net -> piece -> piece

  val posT : O.coq_T -> O.coq_T

  val through : vec -> coq_unit list -> vec * O.coq_T

  val reduce :
    vec -> piece list -> piece list -> (O.coq_T * (vec * vec)) ->
    O.coq_T * (vec * vec)

  val reduced : net -> vec -> vec -> O.coq_T * (vec * vec)

  val psi_of : net -> goal -> psi

  val dims : slot list -> int

  val fits : net -> slot list -> bool

  val nonneg : net -> slot list -> bool -> piece -> bool

  val groups_ok : slot -> bool

  val margin : vec -> vec -> O.coq_T

  val root : net -> slot list -> cell

  val run : net -> slot list -> row list -> goal -> lemma list -> tree -> res

  val check :
    net -> slot list -> row list -> goal -> lemma list -> tree -> bool
 end) ->
 sig
  val dspan :
    bool -> C.slot list -> C.coq_unit list -> C.phases -> C.vec -> O.coq_T ->
    C.vec -> O.coq_T -> O.coq_T -> (O.coq_T * O.coq_T) option

  val best : O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T option

  val flip1 :
    bool -> C.slot list -> C.coq_unit list -> C.phases -> C.phases -> C.piece
    -> O.coq_T -> O.coq_T -> O.coq_T option

  val flat :
    C.slot list -> C.coq_unit list -> C.phases -> C.phases -> C.piece list ->
    C.vec -> C.vec -> C.vec -> C.vec -> C.psi -> C.psi option

  type pcell = { base : C.cell; fphs : C.phases }

  val base : pcell -> C.cell

  val fphs : pcell -> C.phases

  type ptree =
  | PLeaf of C.vec * C.vec * C.vec * C.vec * C.vec * C.vec
  | PPhase of bool * int * ptree * ptree
  | PFlip of bool * int * ptree * ptree
  | PInput of C.who * int * O.coq_T * ptree * ptree
  | PCategory of C.who * int * int * ptree * ptree

  val ptree_rect :
    (C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> 'a1) -> (bool ->
    int -> ptree -> 'a1 -> ptree -> 'a1 -> 'a1) -> (bool -> int -> ptree ->
    'a1 -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> O.coq_T -> ptree -> 'a1
    -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> int -> ptree -> 'a1 -> ptree
    -> 'a1 -> 'a1) -> ptree -> 'a1

  val ptree_rec :
    (C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> 'a1) -> (bool ->
    int -> ptree -> 'a1 -> ptree -> 'a1 -> 'a1) -> (bool -> int -> ptree ->
    'a1 -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> O.coq_T -> ptree -> 'a1
    -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> int -> ptree -> 'a1 -> ptree
    -> 'a1 -> 'a1) -> ptree -> 'a1

  val pbound :
    C.coq_unit list -> C.row list -> C.known list -> C.piece list -> C.vec ->
    C.vec -> C.psi -> pcell -> ptree -> C.res

  val preduce :
    C.vec -> C.piece list -> (O.coq_T * (C.vec * C.vec)) ->
    O.coq_T * (C.vec * C.vec)

  val minus : C.piece -> C.piece -> C.piece

  val flips : C.piece list -> C.piece list -> C.piece list

  val preduced :
    C.net -> C.vec -> C.vec -> (O.coq_T * (C.vec * C.vec)) * C.vec

  val ppsi : C.net -> C.goal -> C.psi * (C.vec * C.vec)

  val prun :
    C.net -> C.slot list -> C.row list -> C.goal -> C.lemma list -> ptree ->
    C.res
 end

module DPaper :
 sig
  val dspan :
    bool -> DChecker.slot list -> DChecker.coq_unit list -> DChecker.phases
    -> DChecker.vec -> DOps.coq_T -> DChecker.vec -> DOps.coq_T -> DOps.coq_T
    -> (DOps.coq_T * DOps.coq_T) option

  val best :
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T option

  val flip1 :
    bool -> DChecker.slot list -> DChecker.coq_unit list -> DChecker.phases
    -> DChecker.phases -> DChecker.piece -> DOps.coq_T -> DOps.coq_T ->
    DOps.coq_T option

  val flat :
    DChecker.slot list -> DChecker.coq_unit list -> DChecker.phases ->
    DChecker.phases -> DChecker.piece list -> DChecker.vec -> DChecker.vec ->
    DChecker.vec -> DChecker.vec -> DChecker.psi -> DChecker.psi option

  type pcell = { base : DChecker.cell; fphs : DChecker.phases }

  val base : pcell -> DChecker.cell

  val fphs : pcell -> DChecker.phases

  type ptree =
  | PLeaf of DChecker.vec * DChecker.vec * DChecker.vec * DChecker.vec
     * DChecker.vec * DChecker.vec
  | PPhase of bool * int * ptree * ptree
  | PFlip of bool * int * ptree * ptree
  | PInput of DChecker.who * int * DOps.coq_T * ptree * ptree
  | PCategory of DChecker.who * int * int * ptree * ptree

  val ptree_rect :
    (DChecker.vec -> DChecker.vec -> DChecker.vec -> DChecker.vec ->
    DChecker.vec -> DChecker.vec -> 'a1) -> (bool -> int -> ptree -> 'a1 ->
    ptree -> 'a1 -> 'a1) -> (bool -> int -> ptree -> 'a1 -> ptree -> 'a1 ->
    'a1) -> (DChecker.who -> int -> DOps.coq_T -> ptree -> 'a1 -> ptree ->
    'a1 -> 'a1) -> (DChecker.who -> int -> int -> ptree -> 'a1 -> ptree ->
    'a1 -> 'a1) -> ptree -> 'a1

  val ptree_rec :
    (DChecker.vec -> DChecker.vec -> DChecker.vec -> DChecker.vec ->
    DChecker.vec -> DChecker.vec -> 'a1) -> (bool -> int -> ptree -> 'a1 ->
    ptree -> 'a1 -> 'a1) -> (bool -> int -> ptree -> 'a1 -> ptree -> 'a1 ->
    'a1) -> (DChecker.who -> int -> DOps.coq_T -> ptree -> 'a1 -> ptree ->
    'a1 -> 'a1) -> (DChecker.who -> int -> int -> ptree -> 'a1 -> ptree ->
    'a1 -> 'a1) -> ptree -> 'a1

  val pbound :
    DChecker.coq_unit list -> DChecker.row list -> DChecker.known list ->
    DChecker.piece list -> DChecker.vec -> DChecker.vec -> DChecker.psi ->
    pcell -> ptree -> DChecker.res

  val preduce :
    DChecker.vec -> DChecker.piece list ->
    (DOps.coq_T * (DChecker.vec * DChecker.vec)) ->
    DOps.coq_T * (DChecker.vec * DChecker.vec)

  val minus : DChecker.piece -> DChecker.piece -> DChecker.piece

  val flips :
    DChecker.piece list -> DChecker.piece list -> DChecker.piece list

  val preduced :
    DChecker.net -> DChecker.vec -> DChecker.vec ->
    (DOps.coq_T * (DChecker.vec * DChecker.vec)) * DChecker.vec

  val ppsi :
    DChecker.net -> DChecker.goal ->
    DChecker.psi * (DChecker.vec * DChecker.vec)

  val prun :
    DChecker.net -> DChecker.slot list -> DChecker.row list -> DChecker.goal
    -> DChecker.lemma list -> ptree -> DChecker.res
 end

module SweepChecker :
 functor (O:OPS) ->
 functor (C:sig
  type vec = O.coq_T list

  val hd0 : vec -> O.coq_T

  val nth0 : int -> vec -> O.coq_T

  val axpy' : O.coq_T -> vec -> vec -> vec

  val axpy : O.coq_T -> vec -> vec -> vec

  val times : vec -> vec -> vec

  val dotT : vec -> vec -> O.coq_T

  val maxT : O.coq_T -> O.coq_T -> O.coq_T

  val minT : O.coq_T -> O.coq_T -> O.coq_T

  val maxl : O.coq_T list -> O.coq_T option

  val minl : O.coq_T list -> O.coq_T option

  val negT : O.coq_T -> O.coq_T

  val absT : O.coq_T -> O.coq_T

  type plain = { lo1 : O.coq_T; hi1 : O.coq_T; lo2 : O.coq_T; hi2 : O.coq_T;
                 dlo : O.coq_T; dhi : O.coq_T; whole : bool }

  val lo1 : plain -> O.coq_T

  val hi1 : plain -> O.coq_T

  val lo2 : plain -> O.coq_T

  val hi2 : plain -> O.coq_T

  val dlo : plain -> O.coq_T

  val dhi : plain -> O.coq_T

  val whole : plain -> bool

  type slot =
  | SPlain of plain
  | SGroup of int * int list * int list * (int * int) list

  val slot_rect :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val slot_rec :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val lo : bool -> plain -> O.coq_T

  val hi : bool -> plain -> O.coq_T

  val span : bool -> slot list -> vec -> (O.coq_T * O.coq_T) option

  val diff : slot list -> vec -> (O.coq_T * O.coq_T) option

  val candx :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val candy :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val max2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T option

  val affmax : slot list -> vec -> vec -> O.coq_T option

  val pieces :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
    (O.coq_T * (O.coq_T * O.coq_T)) list

  val opts : O.coq_T option list -> O.coq_T list

  val relu2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T option

  type coq_unit = vec * O.coq_T

  type phase = bool * bool

  type phases = (phase * phase) list

  val hdp : phases -> phase * phase

  val cuta : phase -> O.coq_T -> O.coq_T

  val cutb : phase -> O.coq_T -> O.coq_T

  val hidden :
    slot list -> coq_unit list -> phases -> vec -> vec -> vec -> vec ->
    O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type row = { r1 : vec; r2 : vec; rhs : O.coq_T; eqr : bool }

  val r1 : row -> vec

  val r2 : row -> vec

  val rhs : row -> O.coq_T

  val eqr : row -> bool

  val extras :
    row list -> vec -> O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type psi = { const : O.coq_T; q1 : vec; q2 : vec; k1 : vec; k2 : vec }

  val const : psi -> O.coq_T

  val q1 : psi -> vec

  val q2 : psi -> vec

  val k1 : psi -> vec

  val k2 : psi -> vec

  type res =
  | Rejected
  | Closed
  | Bound of O.coq_T

  val res_rect : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  val res_rec : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  type cell = { slots : slot list; phs : phases }

  val slots : cell -> slot list

  val phs : cell -> phases

  type lemma = { lj : int; lb1 : O.coq_T; lb2 : O.coq_T; lg1 : vec;
                 lg2 : vec; lth : (O.coq_T * O.coq_T) list }

  val lj : lemma -> int

  val lb1 : lemma -> O.coq_T

  val lb2 : lemma -> O.coq_T

  val lg1 : lemma -> vec

  val lg2 : lemma -> vec

  val lth : lemma -> (O.coq_T * O.coq_T) list

  type known = { kj : int; kb1 : O.coq_T; kb2 : O.coq_T; kg1 : vec;
                 kg2 : vec; kr : O.coq_T }

  val kj : known -> int

  val kb1 : known -> O.coq_T

  val kb2 : known -> O.coq_T

  val kg1 : known -> vec

  val kg2 : known -> vec

  val kr : known -> O.coq_T

  val theta : O.coq_T -> O.coq_T -> bool -> O.coq_T

  val flags : O.coq_T -> bool list

  val given : lemma -> bool -> bool -> O.coq_T * O.coq_T

  val prove1 :
    slot list -> vec -> O.coq_T -> lemma -> bool -> bool -> O.coq_T option

  val prove : slot list -> coq_unit list -> lemma -> known option

  val proves : slot list -> coq_unit list -> lemma list -> known list option

  val addat : int -> O.coq_T -> vec -> vec

  val added : known list -> vec -> psi -> psi option

  val leaf :
    coq_unit list -> row list -> known list -> psi -> cell -> vec -> vec ->
    vec -> vec -> res

  type who =
  | First
  | Second
  | Both

  val who_rect : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  val who_rec : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  type tree =
  | Leaf of vec * vec * vec * vec
  | Phase of bool * int * tree * tree
  | Input of who * int * O.coq_T * tree * tree
  | Category of who * int * int * tree * tree

  val tree_rect :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val tree_rec :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val setph : bool -> bool -> int -> phases -> phases

  val update : (slot -> slot) -> int -> slot list -> slot list

  val pinned : plain -> bool

  val below : who -> O.coq_T -> slot -> slot

  val above : who -> O.coq_T -> slot -> slot

  val keep : who -> (int -> bool) -> slot -> slot

  val on : (slot -> slot) -> int -> cell -> cell

  val join : res -> res -> res

  val bound :
    coq_unit list -> row list -> known list -> psi -> cell -> tree -> res

  type piece = { pc : O.coq_T; ps : vec; po : vec }

  val pc : piece -> O.coq_T

  val ps : piece -> vec

  val po : piece -> vec

  type net = { mult : vec; shift : vec; units : coq_unit list;
               lower : piece list; second : piece list; head : coq_unit list }

  val mult : net -> vec

  val shift : net -> vec

  val units : net -> coq_unit list

  val lower : net -> piece list

  val second : net -> piece list

  val head : net -> coq_unit list

  type goal = { a1 : vec; a2 : vec; b1 : vec; b2 : vec; limit : O.coq_T;
                margins : vec }

  val a1 : goal -> vec

  val a2 : goal -> vec

  val b1 : goal -> vec

  val b2 : goal -> vec

  val limit : goal -> O.coq_T

  val margins : goal -> vec

  val raw : net -> coq_unit -> coq_unit

  val fold : net -> piece -> piece

  val posT : O.coq_T -> O.coq_T

  val through : vec -> coq_unit list -> vec * O.coq_T

  val reduce :
    vec -> piece list -> piece list -> (O.coq_T * (vec * vec)) ->
    O.coq_T * (vec * vec)

  val reduced : net -> vec -> vec -> O.coq_T * (vec * vec)

  val psi_of : net -> goal -> psi

  val dims : slot list -> int

  val fits : net -> slot list -> bool

  val nonneg : net -> slot list -> bool -> piece -> bool

  val groups_ok : slot -> bool

  val margin : vec -> vec -> O.coq_T

  val root : net -> slot list -> cell

  val run : net -> slot list -> row list -> goal -> lemma list -> tree -> res

  val check :
    net -> slot list -> row list -> goal -> lemma list -> tree -> bool
 end) ->
 functor (K:sig
  val dspan :
    bool -> C.slot list -> C.coq_unit list -> C.phases -> C.vec -> O.coq_T ->
    C.vec -> O.coq_T -> O.coq_T -> (O.coq_T * O.coq_T) option

  val best : O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T option

  val flip1 :
    bool -> C.slot list -> C.coq_unit list -> C.phases -> C.phases -> C.piece
    -> O.coq_T -> O.coq_T -> O.coq_T option

  val flat :
    C.slot list -> C.coq_unit list -> C.phases -> C.phases -> C.piece list ->
    C.vec -> C.vec -> C.vec -> C.vec -> C.psi -> C.psi option

  type pcell = { base : C.cell; fphs : C.phases }

  val base : pcell -> C.cell

  val fphs : pcell -> C.phases

  type ptree =
  | PLeaf of C.vec * C.vec * C.vec * C.vec * C.vec * C.vec
  | PPhase of bool * int * ptree * ptree
  | PFlip of bool * int * ptree * ptree
  | PInput of C.who * int * O.coq_T * ptree * ptree
  | PCategory of C.who * int * int * ptree * ptree

  val ptree_rect :
    (C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> 'a1) -> (bool ->
    int -> ptree -> 'a1 -> ptree -> 'a1 -> 'a1) -> (bool -> int -> ptree ->
    'a1 -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> O.coq_T -> ptree -> 'a1
    -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> int -> ptree -> 'a1 -> ptree
    -> 'a1 -> 'a1) -> ptree -> 'a1

  val ptree_rec :
    (C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> 'a1) -> (bool ->
    int -> ptree -> 'a1 -> ptree -> 'a1 -> 'a1) -> (bool -> int -> ptree ->
    'a1 -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> O.coq_T -> ptree -> 'a1
    -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> int -> ptree -> 'a1 -> ptree
    -> 'a1 -> 'a1) -> ptree -> 'a1

  val pbound :
    C.coq_unit list -> C.row list -> C.known list -> C.piece list -> C.vec ->
    C.vec -> C.psi -> pcell -> ptree -> C.res

  val preduce :
    C.vec -> C.piece list -> (O.coq_T * (C.vec * C.vec)) ->
    O.coq_T * (C.vec * C.vec)

  val minus : C.piece -> C.piece -> C.piece

  val flips : C.piece list -> C.piece list -> C.piece list

  val preduced :
    C.net -> C.vec -> C.vec -> (O.coq_T * (C.vec * C.vec)) * C.vec

  val ppsi : C.net -> C.goal -> C.psi * (C.vec * C.vec)

  val prun :
    C.net -> C.slot list -> C.row list -> C.goal -> C.lemma list -> ptree ->
    C.res
 end) ->
 sig
  val at_end : O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T

  val bent :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
    (O.coq_T * O.coq_T) -> (O.coq_T * O.coq_T) option

  val line_of :
    C.coq_unit list -> C.vec -> O.coq_T -> O.coq_T -> (O.coq_T * O.coq_T) ->
    (O.coq_T * O.coq_T) option

  val flips_of :
    C.coq_unit list -> C.piece list -> C.vec -> O.coq_T -> O.coq_T ->
    (O.coq_T * O.coq_T) -> (O.coq_T * O.coq_T) option

  val copy_line :
    C.coq_unit list -> C.piece list -> C.vec -> C.vec -> C.vec -> O.coq_T ->
    O.coq_T -> (O.coq_T * O.coq_T) option

  val lines :
    bool -> (O.coq_T -> O.coq_T -> (O.coq_T * O.coq_T) option) -> O.coq_T ->
    O.coq_T -> O.coq_T list -> ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T))
    list option

  val pair_max :
    O.coq_T -> O.coq_T -> ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) ->
    ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) -> O.coq_T option

  val larger : O.coq_T option -> O.coq_T option -> O.coq_T option

  val top :
    ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) ->
    ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T

  val one_pair :
    O.coq_T -> O.coq_T ->
    (((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T) -> O.coq_T option
    -> (((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T) -> O.coq_T
    option

  val all_pairs :
    O.coq_T -> O.coq_T ->
    (((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T) list ->
    (((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T) list -> O.coq_T
    option

  val sweep :
    C.slot list -> C.coq_unit list -> C.piece list -> C.psi -> C.vec -> C.vec
    -> O.coq_T list -> O.coq_T list -> C.res

  val gap_sweep :
    C.net -> C.slot list -> C.goal -> O.coq_T list -> O.coq_T list -> C.res

  val paper_sweep :
    C.net -> C.slot list -> C.goal -> O.coq_T list -> O.coq_T list -> C.res
 end

module DSweep :
 sig
  val at_end : DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T

  val bent :
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T -> DOps.coq_T ->
    (DOps.coq_T * DOps.coq_T) -> (DOps.coq_T * DOps.coq_T) option

  val line_of :
    DChecker.coq_unit list -> DChecker.vec -> DOps.coq_T -> DOps.coq_T ->
    (DOps.coq_T * DOps.coq_T) -> (DOps.coq_T * DOps.coq_T) option

  val flips_of :
    DChecker.coq_unit list -> DChecker.piece list -> DChecker.vec ->
    DOps.coq_T -> DOps.coq_T -> (DOps.coq_T * DOps.coq_T) ->
    (DOps.coq_T * DOps.coq_T) option

  val copy_line :
    DChecker.coq_unit list -> DChecker.piece list -> DChecker.vec ->
    DChecker.vec -> DChecker.vec -> DOps.coq_T -> DOps.coq_T ->
    (DOps.coq_T * DOps.coq_T) option

  val lines :
    bool -> (DOps.coq_T -> DOps.coq_T -> (DOps.coq_T * DOps.coq_T) option) ->
    DOps.coq_T -> DOps.coq_T -> DOps.coq_T list ->
    ((DOps.coq_T * DOps.coq_T) * (DOps.coq_T * DOps.coq_T)) list option

  val pair_max :
    DOps.coq_T -> DOps.coq_T ->
    ((DOps.coq_T * DOps.coq_T) * (DOps.coq_T * DOps.coq_T)) ->
    ((DOps.coq_T * DOps.coq_T) * (DOps.coq_T * DOps.coq_T)) -> DOps.coq_T
    option

  val larger : DOps.coq_T option -> DOps.coq_T option -> DOps.coq_T option

  val top :
    ((DOps.coq_T * DOps.coq_T) * (DOps.coq_T * DOps.coq_T)) ->
    ((DOps.coq_T * DOps.coq_T) * (DOps.coq_T * DOps.coq_T)) * DOps.coq_T

  val one_pair :
    DOps.coq_T -> DOps.coq_T ->
    (((DOps.coq_T * DOps.coq_T) * (DOps.coq_T * DOps.coq_T)) * DOps.coq_T) ->
    DOps.coq_T option ->
    (((DOps.coq_T * DOps.coq_T) * (DOps.coq_T * DOps.coq_T)) * DOps.coq_T) ->
    DOps.coq_T option

  val all_pairs :
    DOps.coq_T -> DOps.coq_T ->
    (((DOps.coq_T * DOps.coq_T) * (DOps.coq_T * DOps.coq_T)) * DOps.coq_T)
    list ->
    (((DOps.coq_T * DOps.coq_T) * (DOps.coq_T * DOps.coq_T)) * DOps.coq_T)
    list -> DOps.coq_T option

  val sweep :
    DChecker.slot list -> DChecker.coq_unit list -> DChecker.piece list ->
    DChecker.psi -> DChecker.vec -> DChecker.vec -> DOps.coq_T list ->
    DOps.coq_T list -> DChecker.res

  val gap_sweep :
    DChecker.net -> DChecker.slot list -> DChecker.goal -> DOps.coq_T list ->
    DOps.coq_T list -> DChecker.res

  val paper_sweep :
    DChecker.net -> DChecker.slot list -> DChecker.goal -> DOps.coq_T list ->
    DOps.coq_T list -> DChecker.res
 end

module SlopeChecker :
 functor (O:OPS) ->
 functor (C:sig
  type vec = O.coq_T list

  val hd0 : vec -> O.coq_T

  val nth0 : int -> vec -> O.coq_T

  val axpy' : O.coq_T -> vec -> vec -> vec

  val axpy : O.coq_T -> vec -> vec -> vec

  val times : vec -> vec -> vec

  val dotT : vec -> vec -> O.coq_T

  val maxT : O.coq_T -> O.coq_T -> O.coq_T

  val minT : O.coq_T -> O.coq_T -> O.coq_T

  val maxl : O.coq_T list -> O.coq_T option

  val minl : O.coq_T list -> O.coq_T option

  val negT : O.coq_T -> O.coq_T

  val absT : O.coq_T -> O.coq_T

  type plain = { lo1 : O.coq_T; hi1 : O.coq_T; lo2 : O.coq_T; hi2 : O.coq_T;
                 dlo : O.coq_T; dhi : O.coq_T; whole : bool }

  val lo1 : plain -> O.coq_T

  val hi1 : plain -> O.coq_T

  val lo2 : plain -> O.coq_T

  val hi2 : plain -> O.coq_T

  val dlo : plain -> O.coq_T

  val dhi : plain -> O.coq_T

  val whole : plain -> bool

  type slot =
  | SPlain of plain
  | SGroup of int * int list * int list * (int * int) list

  val slot_rect :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val slot_rec :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val lo : bool -> plain -> O.coq_T

  val hi : bool -> plain -> O.coq_T

  val span : bool -> slot list -> vec -> (O.coq_T * O.coq_T) option

  val diff : slot list -> vec -> (O.coq_T * O.coq_T) option

  val candx :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val candy :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val max2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T option

  val affmax : slot list -> vec -> vec -> O.coq_T option

  val pieces :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
    (O.coq_T * (O.coq_T * O.coq_T)) list

  val opts : O.coq_T option list -> O.coq_T list

  val relu2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T option

  type coq_unit = vec * O.coq_T

  type phase = bool * bool

  type phases = (phase * phase) list

  val hdp : phases -> phase * phase

  val cuta : phase -> O.coq_T -> O.coq_T

  val cutb : phase -> O.coq_T -> O.coq_T

  val hidden :
    slot list -> coq_unit list -> phases -> vec -> vec -> vec -> vec ->
    O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type row = { r1 : vec; r2 : vec; rhs : O.coq_T; eqr : bool }

  val r1 : row -> vec

  val r2 : row -> vec

  val rhs : row -> O.coq_T

  val eqr : row -> bool

  val extras :
    row list -> vec -> O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type psi = { const : O.coq_T; q1 : vec; q2 : vec; k1 : vec; k2 : vec }

  val const : psi -> O.coq_T

  val q1 : psi -> vec

  val q2 : psi -> vec

  val k1 : psi -> vec

  val k2 : psi -> vec

  type res =
  | Rejected
  | Closed
  | Bound of O.coq_T

  val res_rect : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  val res_rec : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  type cell = { slots : slot list; phs : phases }

  val slots : cell -> slot list

  val phs : cell -> phases

  type lemma = { lj : int; lb1 : O.coq_T; lb2 : O.coq_T; lg1 : vec;
                 lg2 : vec; lth : (O.coq_T * O.coq_T) list }

  val lj : lemma -> int

  val lb1 : lemma -> O.coq_T

  val lb2 : lemma -> O.coq_T

  val lg1 : lemma -> vec

  val lg2 : lemma -> vec

  val lth : lemma -> (O.coq_T * O.coq_T) list

  type known = { kj : int; kb1 : O.coq_T; kb2 : O.coq_T; kg1 : vec;
                 kg2 : vec; kr : O.coq_T }

  val kj : known -> int

  val kb1 : known -> O.coq_T

  val kb2 : known -> O.coq_T

  val kg1 : known -> vec

  val kg2 : known -> vec

  val kr : known -> O.coq_T

  val theta : O.coq_T -> O.coq_T -> bool -> O.coq_T

  val flags : O.coq_T -> bool list

  val given : lemma -> bool -> bool -> O.coq_T * O.coq_T

  val prove1 :
    slot list -> vec -> O.coq_T -> lemma -> bool -> bool -> O.coq_T option

  val prove : slot list -> coq_unit list -> lemma -> known option

  val proves : slot list -> coq_unit list -> lemma list -> known list option

  val addat : int -> O.coq_T -> vec -> vec

  val added : known list -> vec -> psi -> psi option

  val leaf :
    coq_unit list -> row list -> known list -> psi -> cell -> vec -> vec ->
    vec -> vec -> res

  type who =
  | First
  | Second
  | Both

  val who_rect : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  val who_rec : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  type tree =
  | Leaf of vec * vec * vec * vec
  | Phase of bool * int * tree * tree
  | Input of who * int * O.coq_T * tree * tree
  | Category of who * int * int * tree * tree

  val tree_rect :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val tree_rec :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val setph : bool -> bool -> int -> phases -> phases

  val update : (slot -> slot) -> int -> slot list -> slot list

  val pinned : plain -> bool

  val below : who -> O.coq_T -> slot -> slot

  val above : who -> O.coq_T -> slot -> slot

  val keep : who -> (int -> bool) -> slot -> slot

  val on : (slot -> slot) -> int -> cell -> cell

  val join : res -> res -> res

  val bound :
    coq_unit list -> row list -> known list -> psi -> cell -> tree -> res

  type piece = { pc : O.coq_T; ps : vec; po : vec }

  val pc : piece -> O.coq_T

  val ps : piece -> vec

  val po : piece -> vec

  type net = { mult : vec; shift : vec; units : coq_unit list;
               lower : piece list; second : piece list; head : coq_unit list }

  val mult : net -> vec

  val shift : net -> vec

  val units : net -> coq_unit list

  val lower : net -> piece list

  val second : net -> piece list

  val head : net -> coq_unit list

  type goal = { a1 : vec; a2 : vec; b1 : vec; b2 : vec; limit : O.coq_T;
                margins : vec }

  val a1 : goal -> vec

  val a2 : goal -> vec

  val b1 : goal -> vec

  val b2 : goal -> vec

  val limit : goal -> O.coq_T

  val margins : goal -> vec

  val raw : net -> coq_unit -> coq_unit

  val fold : net -> piece -> piece

  val posT : O.coq_T -> O.coq_T

  val through : vec -> coq_unit list -> vec * O.coq_T

  val reduce :
    vec -> piece list -> piece list -> (O.coq_T * (vec * vec)) ->
    O.coq_T * (vec * vec)

  val reduced : net -> vec -> vec -> O.coq_T * (vec * vec)

  val psi_of : net -> goal -> psi

  val dims : slot list -> int

  val fits : net -> slot list -> bool

  val nonneg : net -> slot list -> bool -> piece -> bool

  val groups_ok : slot -> bool

  val margin : vec -> vec -> O.coq_T

  val root : net -> slot list -> cell

  val run : net -> slot list -> row list -> goal -> lemma list -> tree -> res

  val check :
    net -> slot list -> row list -> goal -> lemma list -> tree -> bool
 end) ->
 sig
  type dirn =
  | Up
  | Down
  | Pin

  val dirn_rect : 'a1 -> 'a1 -> 'a1 -> dirn -> 'a1

  val dirn_rec : 'a1 -> 'a1 -> 'a1 -> dirn -> 'a1

  val sdirs : C.slot list -> dirn list option

  val hull : C.slot -> C.slot

  val mobile : C.slot -> bool

  type stree =
  | Holds
  | Empty of C.vec * C.vec
  | SPhase of int * stree * stree
  | SInput of int * O.coq_T * stree * stree
  | SCategory of int * int * stree * stree

  val stree_rect :
    'a1 -> (C.vec -> C.vec -> 'a1) -> (int -> stree -> 'a1 -> stree -> 'a1 ->
    'a1) -> (int -> O.coq_T -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> (int
    -> int -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> stree -> 'a1

  val stree_rec :
    'a1 -> (C.vec -> C.vec -> 'a1) -> (int -> stree -> 'a1 -> stree -> 'a1 ->
    'a1) -> (int -> O.coq_T -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> (int
    -> int -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> stree -> 'a1

  val choose : O.coq_T -> C.vec -> dirn list -> C.vec -> C.vec

  val slopes :
    C.slot list -> dirn list -> C.coq_unit list -> C.phases -> C.vec -> C.vec
    -> C.vec option

  val signs_ok : dirn list -> C.vec -> bool

  val emptyform :
    C.coq_unit list -> C.phases -> C.vec -> C.vec -> C.vec -> O.coq_T ->
    (C.vec * O.coq_T) option

  val both : bool -> int -> C.phases -> C.phases

  val walk :
    dirn list -> bool list -> C.coq_unit list -> C.vec -> C.vec -> C.cell ->
    stree -> bool

  val opposite : C.vec -> C.vec -> bool

  val slope : C.net -> C.slot list -> C.goal -> stree -> bool
 end

module DSlope :
 sig
  type dirn =
  | Up
  | Down
  | Pin

  val dirn_rect : 'a1 -> 'a1 -> 'a1 -> dirn -> 'a1

  val dirn_rec : 'a1 -> 'a1 -> 'a1 -> dirn -> 'a1

  val sdirs : DChecker.slot list -> dirn list option

  val hull : DChecker.slot -> DChecker.slot

  val mobile : DChecker.slot -> bool

  type stree =
  | Holds
  | Empty of DChecker.vec * DChecker.vec
  | SPhase of int * stree * stree
  | SInput of int * DOps.coq_T * stree * stree
  | SCategory of int * int * stree * stree

  val stree_rect :
    'a1 -> (DChecker.vec -> DChecker.vec -> 'a1) -> (int -> stree -> 'a1 ->
    stree -> 'a1 -> 'a1) -> (int -> DOps.coq_T -> stree -> 'a1 -> stree ->
    'a1 -> 'a1) -> (int -> int -> stree -> 'a1 -> stree -> 'a1 -> 'a1) ->
    stree -> 'a1

  val stree_rec :
    'a1 -> (DChecker.vec -> DChecker.vec -> 'a1) -> (int -> stree -> 'a1 ->
    stree -> 'a1 -> 'a1) -> (int -> DOps.coq_T -> stree -> 'a1 -> stree ->
    'a1 -> 'a1) -> (int -> int -> stree -> 'a1 -> stree -> 'a1 -> 'a1) ->
    stree -> 'a1

  val choose :
    DOps.coq_T -> DChecker.vec -> dirn list -> DChecker.vec -> DChecker.vec

  val slopes :
    DChecker.slot list -> dirn list -> DChecker.coq_unit list ->
    DChecker.phases -> DChecker.vec -> DChecker.vec -> DChecker.vec option

  val signs_ok : dirn list -> DChecker.vec -> bool

  val emptyform :
    DChecker.coq_unit list -> DChecker.phases -> DChecker.vec -> DChecker.vec
    -> DChecker.vec -> DOps.coq_T -> (DChecker.vec * DOps.coq_T) option

  val both : bool -> int -> DChecker.phases -> DChecker.phases

  val walk :
    dirn list -> bool list -> DChecker.coq_unit list -> DChecker.vec ->
    DChecker.vec -> DChecker.cell -> stree -> bool

  val opposite : DChecker.vec -> DChecker.vec -> bool

  val slope :
    DChecker.net -> DChecker.slot list -> DChecker.goal -> stree -> bool
 end

module SignsChecker :
 functor (O:OPS) ->
 functor (C:sig
  type vec = O.coq_T list

  val hd0 : vec -> O.coq_T

  val nth0 : int -> vec -> O.coq_T

  val axpy' : O.coq_T -> vec -> vec -> vec

  val axpy : O.coq_T -> vec -> vec -> vec

  val times : vec -> vec -> vec

  val dotT : vec -> vec -> O.coq_T

  val maxT : O.coq_T -> O.coq_T -> O.coq_T

  val minT : O.coq_T -> O.coq_T -> O.coq_T

  val maxl : O.coq_T list -> O.coq_T option

  val minl : O.coq_T list -> O.coq_T option

  val negT : O.coq_T -> O.coq_T

  val absT : O.coq_T -> O.coq_T

  type plain = { lo1 : O.coq_T; hi1 : O.coq_T; lo2 : O.coq_T; hi2 : O.coq_T;
                 dlo : O.coq_T; dhi : O.coq_T; whole : bool }

  val lo1 : plain -> O.coq_T

  val hi1 : plain -> O.coq_T

  val lo2 : plain -> O.coq_T

  val hi2 : plain -> O.coq_T

  val dlo : plain -> O.coq_T

  val dhi : plain -> O.coq_T

  val whole : plain -> bool

  type slot =
  | SPlain of plain
  | SGroup of int * int list * int list * (int * int) list

  val slot_rect :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val slot_rec :
    (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
    'a1) -> slot -> 'a1

  val lo : bool -> plain -> O.coq_T

  val hi : bool -> plain -> O.coq_T

  val span : bool -> slot list -> vec -> (O.coq_T * O.coq_T) option

  val diff : slot list -> vec -> (O.coq_T * O.coq_T) option

  val candx :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val candy :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T list

  val max2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T option

  val affmax : slot list -> vec -> vec -> O.coq_T option

  val pieces :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
    (O.coq_T * (O.coq_T * O.coq_T)) list

  val opts : O.coq_T option list -> O.coq_T list

  val relu2 :
    O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T
    -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T option

  type coq_unit = vec * O.coq_T

  type phase = bool * bool

  type phases = (phase * phase) list

  val hdp : phases -> phase * phase

  val cuta : phase -> O.coq_T -> O.coq_T

  val cutb : phase -> O.coq_T -> O.coq_T

  val hidden :
    slot list -> coq_unit list -> phases -> vec -> vec -> vec -> vec ->
    O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type row = { r1 : vec; r2 : vec; rhs : O.coq_T; eqr : bool }

  val r1 : row -> vec

  val r2 : row -> vec

  val rhs : row -> O.coq_T

  val eqr : row -> bool

  val extras :
    row list -> vec -> O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option

  type psi = { const : O.coq_T; q1 : vec; q2 : vec; k1 : vec; k2 : vec }

  val const : psi -> O.coq_T

  val q1 : psi -> vec

  val q2 : psi -> vec

  val k1 : psi -> vec

  val k2 : psi -> vec

  type res =
  | Rejected
  | Closed
  | Bound of O.coq_T

  val res_rect : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  val res_rec : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1

  type cell = { slots : slot list; phs : phases }

  val slots : cell -> slot list

  val phs : cell -> phases

  type lemma = { lj : int; lb1 : O.coq_T; lb2 : O.coq_T; lg1 : vec;
                 lg2 : vec; lth : (O.coq_T * O.coq_T) list }

  val lj : lemma -> int

  val lb1 : lemma -> O.coq_T

  val lb2 : lemma -> O.coq_T

  val lg1 : lemma -> vec

  val lg2 : lemma -> vec

  val lth : lemma -> (O.coq_T * O.coq_T) list

  type known = { kj : int; kb1 : O.coq_T; kb2 : O.coq_T; kg1 : vec;
                 kg2 : vec; kr : O.coq_T }

  val kj : known -> int

  val kb1 : known -> O.coq_T

  val kb2 : known -> O.coq_T

  val kg1 : known -> vec

  val kg2 : known -> vec

  val kr : known -> O.coq_T

  val theta : O.coq_T -> O.coq_T -> bool -> O.coq_T

  val flags : O.coq_T -> bool list

  val given : lemma -> bool -> bool -> O.coq_T * O.coq_T

  val prove1 :
    slot list -> vec -> O.coq_T -> lemma -> bool -> bool -> O.coq_T option

  val prove : slot list -> coq_unit list -> lemma -> known option

  val proves : slot list -> coq_unit list -> lemma list -> known list option

  val addat : int -> O.coq_T -> vec -> vec

  val added : known list -> vec -> psi -> psi option

  val leaf :
    coq_unit list -> row list -> known list -> psi -> cell -> vec -> vec ->
    vec -> vec -> res

  type who =
  | First
  | Second
  | Both

  val who_rect : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  val who_rec : 'a1 -> 'a1 -> 'a1 -> who -> 'a1

  type tree =
  | Leaf of vec * vec * vec * vec
  | Phase of bool * int * tree * tree
  | Input of who * int * O.coq_T * tree * tree
  | Category of who * int * int * tree * tree

  val tree_rect :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val tree_rec :
    (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 -> tree
    -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree -> 'a1 ->
    'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1) -> tree
    -> 'a1

  val setph : bool -> bool -> int -> phases -> phases

  val update : (slot -> slot) -> int -> slot list -> slot list

  val pinned : plain -> bool

  val below : who -> O.coq_T -> slot -> slot

  val above : who -> O.coq_T -> slot -> slot

  val keep : who -> (int -> bool) -> slot -> slot

  val on : (slot -> slot) -> int -> cell -> cell

  val join : res -> res -> res

  val bound :
    coq_unit list -> row list -> known list -> psi -> cell -> tree -> res

  type piece = { pc : O.coq_T; ps : vec; po : vec }

  val pc : piece -> O.coq_T

  val ps : piece -> vec

  val po : piece -> vec

  type net = { mult : vec; shift : vec; units : coq_unit list;
               lower : piece list; second : piece list; head : coq_unit list }

  val mult : net -> vec

  val shift : net -> vec

  val units : net -> coq_unit list

  val lower : net -> piece list

  val second : net -> piece list

  val head : net -> coq_unit list

  type goal = { a1 : vec; a2 : vec; b1 : vec; b2 : vec; limit : O.coq_T;
                margins : vec }

  val a1 : goal -> vec

  val a2 : goal -> vec

  val b1 : goal -> vec

  val b2 : goal -> vec

  val limit : goal -> O.coq_T

  val margins : goal -> vec

  val raw : net -> coq_unit -> coq_unit

  val fold : net -> piece -> piece

  val posT : O.coq_T -> O.coq_T

  val through : vec -> coq_unit list -> vec * O.coq_T

  val reduce :
    vec -> piece list -> piece list -> (O.coq_T * (vec * vec)) ->
    O.coq_T * (vec * vec)

  val reduced : net -> vec -> vec -> O.coq_T * (vec * vec)

  val psi_of : net -> goal -> psi

  val dims : slot list -> int

  val fits : net -> slot list -> bool

  val nonneg : net -> slot list -> bool -> piece -> bool

  val groups_ok : slot -> bool

  val margin : vec -> vec -> O.coq_T

  val root : net -> slot list -> cell

  val run : net -> slot list -> row list -> goal -> lemma list -> tree -> res

  val check :
    net -> slot list -> row list -> goal -> lemma list -> tree -> bool
 end) ->
 functor (L:sig
  type dirn =
  | Up
  | Down
  | Pin

  val dirn_rect : 'a1 -> 'a1 -> 'a1 -> dirn -> 'a1

  val dirn_rec : 'a1 -> 'a1 -> 'a1 -> dirn -> 'a1

  val sdirs : C.slot list -> dirn list option

  val hull : C.slot -> C.slot

  val mobile : C.slot -> bool

  type stree =
  | Holds
  | Empty of C.vec * C.vec
  | SPhase of int * stree * stree
  | SInput of int * O.coq_T * stree * stree
  | SCategory of int * int * stree * stree

  val stree_rect :
    'a1 -> (C.vec -> C.vec -> 'a1) -> (int -> stree -> 'a1 -> stree -> 'a1 ->
    'a1) -> (int -> O.coq_T -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> (int
    -> int -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> stree -> 'a1

  val stree_rec :
    'a1 -> (C.vec -> C.vec -> 'a1) -> (int -> stree -> 'a1 -> stree -> 'a1 ->
    'a1) -> (int -> O.coq_T -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> (int
    -> int -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> stree -> 'a1

  val choose : O.coq_T -> C.vec -> dirn list -> C.vec -> C.vec

  val slopes :
    C.slot list -> dirn list -> C.coq_unit list -> C.phases -> C.vec -> C.vec
    -> C.vec option

  val signs_ok : dirn list -> C.vec -> bool

  val emptyform :
    C.coq_unit list -> C.phases -> C.vec -> C.vec -> C.vec -> O.coq_T ->
    (C.vec * O.coq_T) option

  val both : bool -> int -> C.phases -> C.phases

  val walk :
    dirn list -> bool list -> C.coq_unit list -> C.vec -> C.vec -> C.cell ->
    stree -> bool

  val opposite : C.vec -> C.vec -> bool

  val slope : C.net -> C.slot list -> C.goal -> stree -> bool
 end) ->
 sig
  val falls : C.slot list -> C.vec -> C.vec -> bool

  val form : C.slot list -> C.row list -> C.vec -> C.vec -> C.vec -> bool

  val minus_vec : C.vec -> C.vec

  val unit_falls :
    C.slot list -> C.row list -> C.vec -> C.vec -> O.coq_T -> bool

  val units_fall :
    C.slot list -> C.row list -> C.coq_unit list -> C.vec -> C.vec list ->
    bool

  val signs :
    C.net -> C.slot list -> C.row list -> C.goal -> C.vec list -> bool
 end

module DSigns :
 sig
  val falls : DChecker.slot list -> DChecker.vec -> DChecker.vec -> bool

  val form :
    DChecker.slot list -> DChecker.row list -> DChecker.vec -> DChecker.vec
    -> DChecker.vec -> bool

  val minus_vec : DChecker.vec -> DChecker.vec

  val unit_falls :
    DChecker.slot list -> DChecker.row list -> DChecker.vec -> DChecker.vec
    -> DOps.coq_T -> bool

  val units_fall :
    DChecker.slot list -> DChecker.row list -> DChecker.coq_unit list ->
    DChecker.vec -> DChecker.vec list -> bool

  val signs :
    DChecker.net -> DChecker.slot list -> DChecker.row list -> DChecker.goal
    -> DChecker.vec list -> bool
 end

type item =
| Pass of int
| Made of spread * (DOps.num * DOps.num)

val box_fits : (DOps.num * DOps.num) -> bool

val cut_item : (DOps.num * DOps.num) -> spread -> item option

val pinned_item : bool -> (DOps.num * DOps.num) -> item option

val branch_items : coord list -> known0 list -> branch -> item list option

val encoder_items :
  coord list -> known0 list -> branch list -> item list option

val items_of : net0 -> known0 list -> item list option

val members : int -> int -> coord list -> int list

val takes : int list -> item list -> item list option

val feature_sum : int -> coord list -> DOps.num list -> DOps.num

val one_hot_ok : coord list -> DOps.num list -> bool

val bit : coord -> bool

val allowed : bool list -> bool list -> int list

val one_ok : known0 -> DOps.num -> bool

val pair_ok : known0 list -> int list -> (int * int) -> bool

val group_slot : known0 list -> DChecker.slot

val slots_of :
  int -> coord list -> known0 list -> item list -> DChecker.slot list option

val source : item -> int option

val over : bool -> int option list -> term list -> DOps.num list

val count : int -> int option list -> int

val once : int option list -> term list -> bool

val is_extra : row0 -> bool

val extra_row : int option list -> row0 -> DChecker.row list

val scale_of :
  coord list -> (coord -> DOps.num) -> DOps.num -> item -> DOps.num

val piece_of :
  int -> int -> bool -> (DOps.num list * DOps.num) -> DChecker.piece

val scaled_end : (coord -> DOps.num) -> coord -> DOps.num

val ends_piece : coord list -> (DOps.num list * DOps.num) -> DChecker.piece

val real_net : net0 -> item list -> DChecker.net

type known_err = { e_size : DOps.num; e_err : DOps.num }

val item_err : coord list -> item -> known_err option

val row_err :
  DOps.num list -> DOps.num list -> DOps.num list -> DOps.num -> (DOps.num
  list * DOps.num) -> known_err option

val rows_err :
  known_err list -> (DOps.num list * DOps.num) list -> known_err list option

val part_err : part -> known_err list -> known_err list option

val end_err : coord -> known_err -> (known_err * known_err) option

val ends_err :
  coord list -> known_err list -> (known_err list * known_err list) option

val second_err : net0 -> known_err list -> known_err list option

val upper_err : boxes -> known_err -> known_err -> known_err option

val power : DOps.num -> bool

val head_err :
  DOps.num list -> DOps.num list -> DOps.num list -> DOps.num -> ((DOps.num
  list * DOps.num) * DOps.num) -> DOps.num option

val margins_of : net0 -> item list -> DOps.num list option

type ready = { r_slots : DChecker.slot list; r_rows : DChecker.row list;
               r_sources : int option list; r_net : DChecker.net;
               r_errors : DOps.num list; r_kind : boxes; r_pinned : bool list }

val shapes : net0 -> int -> bool

val pinned_in : known0 list -> item -> bool

val prepare : net0 -> premise -> ready option

val row_goal : ready -> goal0 -> DChecker.goal

type way =
| Tree of DChecker.lemma list * DChecker.tree
| Flips of DChecker.lemma list * DPaper.ptree
| Sweep of DOps.num list * DOps.num list
| Slope of DSlope.stree
| Signs of DOps.num list list

val wide : DChecker.net -> DChecker.slot list -> bool

val real_bound : ready -> DChecker.goal -> way -> DChecker.res

val row_bound : ready -> goal0 -> way -> (DOps.num * DOps.num) option

val accepts : goal0 -> DOps.num -> (DOps.num * DOps.num) -> bool

val swaps : DChecker.slot -> bool

val same_nums : DOps.num list -> DOps.num list -> bool

val mirrors : ready -> goal0 -> goal0 -> bool

type shown =
| Own of way
| Mirror of goal0 * way

val bound_of : ready -> goal0 -> shown -> (DOps.num * DOps.num) option

val kept : coord list -> premise -> int list

val half : coord list -> premise -> bool -> int -> DOps.num -> bool -> premise

val times_terms : DOps.num -> term list -> term list

val mean : DOps.num list -> goal0 list -> goal0

val weighs : DOps.num list -> goal0 list -> bool

val means : DOps.num list list -> goal0 list list -> goal0 list option

type cases =
| Case of DOps.num list list * shown option list
| Cut of bool * int * DOps.num * cases * cases

val is_shown :
  net0 -> bool -> premise -> ready -> (goal0 * DOps.num) -> shown option ->
  bool

val all_shown :
  net0 -> bool -> premise -> ready -> (goal0 * DOps.num) list -> shown option
  list -> bool

val check_cases :
  net0 -> bool -> premise -> (goal0 * DOps.num) list -> goal0 list list ->
  cases -> bool
