
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

val nth : int -> 'a1 list -> 'a1 -> 'a1

val nth_error : 'a1 list -> int -> 'a1 option

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

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

type num0 = DOps.coq_T

val ltb0 : num0 -> num0 -> bool

val eqb0 : num0 -> num0 -> bool

val fromZ : Big.t -> num0

val maxT : num0 -> num0 -> num0

val minT : num0 -> num0 -> num0

val negT : num0 -> num0

val absT : num0 -> num0

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

type tree =
| Tip of DOps.num
| Ask of int * DOps.num * tree * tree

val extreme :
  (DOps.num -> DOps.num -> DOps.num) -> (spread -> DOps.num) -> spread ->
  spread list -> DOps.num

val set_spread : spread list -> int list -> spread option

type four = { f_lo : DOps.num; f_hi : DOps.num; f_low : DOps.num;
              f_high : DOps.num }

val joined : four -> four -> bool -> bool -> four

val tree_four : spread list -> tree -> four option

type piece = { p_ask : int; p_low : DOps.num; p_high : DOps.num;
               p_above : DOps.num option; p_upto : DOps.num option }

val sooner : DOps.num option -> DOps.num -> DOps.num option

val later : DOps.num option -> DOps.num -> DOps.num option

val cut_piece : bool -> DOps.num -> piece -> piece

val narrow : spread -> int -> bool -> DOps.num -> piece list -> piece list

val open_leaves :
  spread list -> tree -> piece list -> (DOps.num * piece list) list

val apart : piece -> piece -> bool

val a_pair : piece list -> piece list -> bool

val compared :
  (DOps.num * piece list) -> (DOps.num * piece list) -> (DOps.num * DOps.num)
  -> DOps.num * DOps.num

val against :
  (DOps.num * piece list) -> (DOps.num * piece list) list ->
  (DOps.num * DOps.num) -> DOps.num * DOps.num

val by_pairs :
  (DOps.num * piece list) list -> (DOps.num * piece list) list ->
  (DOps.num * DOps.num) -> DOps.num * DOps.num

val leaves : tree -> Big.t

val tree_spread : spread list -> tree -> spread option

val sum_spread : spread list -> (DOps.num * tree list) -> spread option

val trees_spread :
  int list list -> (DOps.num * tree list) list -> spread list -> spread list
  option

type layer =
| Ramps of ((int * DOps.num) * DOps.num) list
| Linear of bool * (DOps.num list * DOps.num) list
| Kinks of int
| Pool of int * int
| Distance of (DOps.num list * DOps.num) list
| Trees of int list list * (DOps.num * tree list) list

val layer_spread : layer -> spread list -> spread list -> spread list option

val layers_spread :
  layer list -> spread list -> spread list option -> spread list option

type coord = { c_lo : DOps.num; c_hi : DOps.num; c_shift : DOps.num;
               c_mult : DOps.num; c_whole : bool; c_group : bool;
               c_feature : int }

type term = (DOps.num * bool) * int

type row = { terms : term list; equal : bool; right : DOps.num }

type premise = { when0 : row list; others : bool; equals : int list;
                 frees : int list }

val feature_of : coord list -> int -> int option

val named : coord list -> premise -> int list

val insert : DOps.num -> bool -> int -> term list -> term list

val merge : term list -> term list

val clean : term list -> term list

type cell = { l1 : DOps.num; h1 : DOps.num; l2 : DOps.num; h2 : DOps.num;
              d_lo : DOps.num option; d_hi : DOps.num option }

val omax : DOps.num option -> DOps.num -> DOps.num option

val omin : DOps.num option -> DOps.num -> DOps.num option

val bounded : bool -> DOps.num -> DOps.num -> bool -> cell -> cell

val stripped : DOps.num -> DOps.num -> bool -> cell -> cell

val update : int -> (cell -> cell) -> cell list -> cell list

val apply : row -> cell list -> cell list option

val apply_all : row list -> cell list -> cell list option

type known = { k_l1 : DOps.num; k_h1 : DOps.num; k_l2 : DOps.num;
               k_h2 : DOps.num; k_low : DOps.num; k_high : DOps.num;
               k_pinned : bool }

val up0 : bool -> DOps.num -> DOps.num

val down : bool -> DOps.num -> DOps.num

val finish1 : bool -> coord -> cell -> known

val pin_stated : premise -> int list -> int -> coord -> bool

val finish :
  premise -> int list -> int -> coord list -> cell list -> known list

val start : coord -> cell

val ground : coord list -> premise -> known list option

val coord_ok : coord -> DOps.num -> bool

val domain_ok : coord list -> DOps.num list -> bool

val left_num : DOps.num list -> DOps.num list -> term list -> DOps.num

val row_ok : DOps.num list -> DOps.num list -> row -> bool

val pins_ok :
  premise -> int list -> int -> coord list -> DOps.num list -> DOps.num list
  -> bool

val witness_ok :
  coord list -> premise -> DOps.num list -> DOps.num list -> bool

type branch = { columns : int list; steps : layer list; pinned : int option;
                box : (DOps.num * DOps.num) list }

type part = { hidden : (DOps.num list * DOps.num) list; skips : bool;
              sums : (DOps.num list * DOps.num) list }

type net = { coords : coord list; encoder : branch list option; lower : 
             part; second : part;
             head : ((DOps.num list * DOps.num) * DOps.num) list }

val bind : 'a1 option -> ('a1 -> 'a2 option) -> 'a2 option

val passes : branch -> bool

val far : coord -> DOps.num

val plain : coord -> bool

val error : coord -> DOps.num

val scales : coord -> bool

val input_size : coord -> DOps.num

type dir = bool * bool

val move : bool -> bool -> DOps.num -> DOps.num -> dir option

val raw_spread : coord -> known -> spread option

type moving = dir option * DOps.num

val pass_moving : coord -> known -> moving

val cut_moving : (DOps.num * DOps.num) -> spread -> moving option

val pinned_moving : bool -> (DOps.num * DOps.num) -> moving option

val map2o :
  ('a1 -> 'a2 -> 'a3 option) -> 'a1 list -> 'a2 list -> 'a3 list option

val branch_moving : coord list -> known list -> branch -> moving list option

val encoder_moving :
  coord list -> known list -> branch list -> moving list option

val pass_all : coord list -> known list -> moving list

val inputs_moving : net -> known list -> moving list option

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

val outputs_dir : net -> moving list -> dir list option

type goal = { outs : term list; ins : term list; g_equal : bool;
              g_right : DOps.num }

val coef : bool -> int -> term list -> DOps.num

val below : int -> term list -> bool

val outs_le : bool -> term list -> int -> dir list -> bool

val no_inputs : int -> term list -> bool

val order_row : int -> dir list -> goal -> bool

val check_order : net -> premise -> goal list -> bool list option
