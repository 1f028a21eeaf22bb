
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

(** val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option **)

let option_map f = function
| Some a -> Some (f a)
| None -> None

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> int **)

let rec length = function
| [] -> 0
| _ :: l' -> Stdlib.Int.succ (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l3 -> a :: (app l3 m)

type comparison =
| Eq
| Lt
| Gt

(** val compOpp : comparison -> comparison **)

let compOpp = function
| Eq -> Eq
| Lt -> Gt
| Gt -> Lt

(** val pred : int -> int **)

let pred = fun n -> Stdlib.max 0 (n-1)

module Coq__1 = struct
 (** val add : int -> int -> int **)let rec add = (+)
end
include Coq__1

(** val mul : int -> int -> int **)

let rec mul = ( * )

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

module Nat =
 struct
  (** val ltb : int -> int -> bool **)

  let ltb n0 m =
    (<=) (Stdlib.Int.succ n0) m

  (** val divmod : int -> int -> int -> int -> int * int **)

  let rec divmod x y q u =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> (q, u))
      (fun x' ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> divmod x' y (Stdlib.Int.succ q) y)
        (fun u' -> divmod x' y q u')
        u)
      x

  (** val div : int -> int -> int **)

  let div x y =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> y)
      (fun y' -> fst (divmod x y' 0 y'))
      y
 end

module Pos =
 struct
  type mask =
  | IsNul
  | IsPos of Big.t
  | IsNeg
 end

module Coq_Pos =
 struct
  (** val succ : Big.t -> Big.t **)

  let rec succ x =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p -> (fun x -> Big.shift_left x 1) (succ p))
      (fun p -> (fun x -> Big.succ (Big.shift_left x 1)) p)
      (fun _ -> (fun x -> Big.shift_left x 1) Big.one)
      x

  (** val add : Big.t -> Big.t -> Big.t **)

  let rec add = Big.add

  (** val add_carry : Big.t -> Big.t -> Big.t **)

  and add_carry x y =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> (fun x -> Big.succ (Big.shift_left x 1))
        (add_carry p q))
        (fun q -> (fun x -> Big.shift_left x 1) (add_carry p q))
        (fun _ -> (fun x -> Big.succ (Big.shift_left x 1)) (succ p))
        y)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> (fun x -> Big.shift_left x 1) (add_carry p q))
        (fun q -> (fun x -> Big.succ (Big.shift_left x 1))
        (add p q))
        (fun _ -> (fun x -> Big.shift_left x 1) (succ p))
        y)
      (fun _ ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> (fun x -> Big.succ (Big.shift_left x 1)) (succ q))
        (fun q -> (fun x -> Big.shift_left x 1) (succ q))
        (fun _ -> (fun x -> Big.succ (Big.shift_left x 1)) Big.one)
        y)
      x

  (** val pred_double : Big.t -> Big.t **)

  let rec pred_double x =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p -> (fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.shift_left x 1) p))
      (fun p -> (fun x -> Big.succ (Big.shift_left x 1))
      (pred_double p))
      (fun _ -> Big.one)
      x

  (** val pred_N : Big.t -> Big.t **)

  let pred_N x =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p -> ((fun x -> Big.shift_left x 1) p))
      (fun p -> (pred_double p))
      (fun _ -> Big.zero)
      x

  type mask = Pos.mask =
  | IsNul
  | IsPos of Big.t
  | IsNeg

  (** val succ_double_mask : mask -> mask **)

  let succ_double_mask = function
  | IsNul -> IsPos Big.one
  | IsPos p -> IsPos ((fun x -> Big.succ (Big.shift_left x 1)) p)
  | IsNeg -> IsNeg

  (** val double_mask : mask -> mask **)

  let double_mask = function
  | IsPos p -> IsPos ((fun x -> Big.shift_left x 1) p)
  | x0 -> x0

  (** val double_pred_mask : Big.t -> mask **)

  let double_pred_mask x =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p -> IsPos ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.shift_left x 1) p)))
      (fun p -> IsPos ((fun x -> Big.shift_left x 1)
      (pred_double p)))
      (fun _ -> IsNul)
      x

  (** val sub_mask : Big.t -> Big.t -> mask **)

  let rec sub_mask x y =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> double_mask (sub_mask p q))
        (fun q -> succ_double_mask (sub_mask p q))
        (fun _ -> IsPos ((fun x -> Big.shift_left x 1) p))
        y)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> succ_double_mask (sub_mask_carry p q))
        (fun q -> double_mask (sub_mask p q))
        (fun _ -> IsPos (pred_double p))
        y)
      (fun _ ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun _ -> IsNeg)
        (fun _ -> IsNeg)
        (fun _ -> IsNul)
        y)
      x

  (** val sub_mask_carry : Big.t -> Big.t -> mask **)

  and sub_mask_carry x y =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> succ_double_mask (sub_mask_carry p q))
        (fun q -> double_mask (sub_mask p q))
        (fun _ -> IsPos (pred_double p))
        y)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> double_mask (sub_mask_carry p q))
        (fun q -> succ_double_mask (sub_mask_carry p q))
        (fun _ -> double_pred_mask p)
        y)
      (fun _ -> IsNeg)
      x

  (** val sub : Big.t -> Big.t -> Big.t **)

  let sub x y =
    match sub_mask x y with
    | IsPos z0 -> z0
    | _ -> Big.one

  (** val mul : Big.t -> Big.t -> Big.t **)

  let rec mul = Big.mul

  (** val iter : ('a1 -> 'a1) -> 'a1 -> Big.t -> 'a1 **)

  let rec iter f x n0 =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun n' -> f (iter f (iter f x n') n'))
      (fun n' -> iter f (iter f x n') n')
      (fun _ -> f x)
      n0

  (** val div2 : Big.t -> Big.t **)

  let div2 p =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p0 -> p0)
      (fun p0 -> p0)
      (fun _ -> Big.one)
      p

  (** val div2_up : Big.t -> Big.t **)

  let div2_up p =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p0 -> succ p0)
      (fun p0 -> p0)
      (fun _ -> Big.one)
      p

  (** val size_nat : Big.t -> int **)

  let rec size_nat p =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p0 -> Stdlib.Int.succ (size_nat p0))
      (fun p0 -> Stdlib.Int.succ (size_nat p0))
      (fun _ -> Stdlib.Int.succ 0)
      p

  (** val size : Big.t -> Big.t **)

  let rec size p =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p0 -> succ (size p0))
      (fun p0 -> succ (size p0))
      (fun _ -> Big.one)
      p

  (** val compare_cont : comparison -> Big.t -> Big.t -> comparison **)

  let rec compare_cont r x y =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> compare_cont r p q)
        (fun q -> compare_cont Gt p q)
        (fun _ -> Gt)
        y)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> compare_cont Lt p q)
        (fun q -> compare_cont r p q)
        (fun _ -> Gt)
        y)
      (fun _ ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun _ -> Lt)
        (fun _ -> Lt)
        (fun _ -> r)
        y)
      x

  (** val compare : Big.t -> Big.t -> comparison **)

  let compare =
    compare_cont Eq

  (** val eqb : Big.t -> Big.t -> bool **)

  let rec eqb = Big.equal

  (** val gcdn : int -> Big.t -> Big.t -> Big.t **)

  let rec gcdn n0 a b =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> Big.one)
      (fun n1 ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun a' ->
        (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
          (fun b' ->
          match compare a' b' with
          | Eq -> a
          | Lt -> gcdn n1 (sub b' a') a
          | Gt -> gcdn n1 (sub a' b') b)
          (fun b0 -> gcdn n1 a b0)
          (fun _ -> Big.one)
          b)
        (fun a0 ->
        (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
          (fun _ -> gcdn n1 a0 b)
          (fun b0 -> (fun x -> Big.shift_left x 1) (gcdn n1 a0 b0))
          (fun _ -> Big.one)
          b)
        (fun _ -> Big.one)
        a)
      n0

  (** val gcd : Big.t -> Big.t -> Big.t **)

  let gcd a b =
    gcdn (Coq__1.add (size_nat a) (size_nat b)) a b

  (** val coq_Nsucc_double : Big.t -> Big.t **)

  let coq_Nsucc_double x =
    (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
      (fun _ -> Big.one)
      (fun p -> ((fun x -> Big.succ (Big.shift_left x 1)) p))
      x

  (** val coq_Ndouble : Big.t -> Big.t **)

  let coq_Ndouble n0 =
    (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
      (fun _ -> Big.zero)
      (fun p -> ((fun x -> Big.shift_left x 1) p))
      n0

  (** val coq_lor : Big.t -> Big.t -> Big.t **)

  let rec coq_lor p q =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p0 ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q0 -> (fun x -> Big.succ (Big.shift_left x 1))
        (coq_lor p0 q0))
        (fun q0 -> (fun x -> Big.succ (Big.shift_left x 1))
        (coq_lor p0 q0))
        (fun _ -> p)
        q)
      (fun p0 ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q0 -> (fun x -> Big.succ (Big.shift_left x 1))
        (coq_lor p0 q0))
        (fun q0 -> (fun x -> Big.shift_left x 1) (coq_lor p0 q0))
        (fun _ -> (fun x -> Big.succ (Big.shift_left x 1)) p0)
        q)
      (fun _ ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun _ -> q)
        (fun q0 -> (fun x -> Big.succ (Big.shift_left x 1)) q0)
        (fun _ -> q)
        q)
      p

  (** val coq_land : Big.t -> Big.t -> Big.t **)

  let rec coq_land p q =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p0 ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q0 -> coq_Nsucc_double (coq_land p0 q0))
        (fun q0 -> coq_Ndouble (coq_land p0 q0))
        (fun _ -> Big.one)
        q)
      (fun p0 ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q0 -> coq_Ndouble (coq_land p0 q0))
        (fun q0 -> coq_Ndouble (coq_land p0 q0))
        (fun _ -> Big.zero)
        q)
      (fun _ ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun _ -> Big.one)
        (fun _ -> Big.zero)
        (fun _ -> Big.one)
        q)
      p

  (** val ldiff : Big.t -> Big.t -> Big.t **)

  let rec ldiff p q =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p0 ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q0 -> coq_Ndouble (ldiff p0 q0))
        (fun q0 -> coq_Nsucc_double (ldiff p0 q0))
        (fun _ -> ((fun x -> Big.shift_left x 1) p0))
        q)
      (fun p0 ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q0 -> coq_Ndouble (ldiff p0 q0))
        (fun q0 -> coq_Ndouble (ldiff p0 q0))
        (fun _ -> p)
        q)
      (fun _ ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun _ -> Big.zero)
        (fun _ -> Big.one)
        (fun _ -> Big.zero)
        q)
      p

  (** val of_succ_nat : int -> Big.t **)

  let rec of_succ_nat n0 =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> Big.one)
      (fun x -> succ (of_succ_nat x))
      n0
 end

module N =
 struct
  (** val succ_pos : Big.t -> Big.t **)

  let succ_pos n0 =
    (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
      (fun _ -> Big.one)
      (fun p -> Coq_Pos.succ p)
      n0

  (** val add : Big.t -> Big.t -> Big.t **)

  let add = Big.add

  (** val sub : Big.t -> Big.t -> Big.t **)

  let sub = (fun a b -> Big.max Big.zero (Big.sub a b))

  (** val compare : Big.t -> Big.t -> comparison **)

  let compare n0 m =
    (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
      (fun _ ->
      (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
        (fun _ -> Eq)
        (fun _ -> Lt)
        m)
      (fun n' ->
      (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
        (fun _ -> Gt)
        (fun m' -> Coq_Pos.compare n' m')
        m)
      n0

  (** val max : Big.t -> Big.t -> Big.t **)

  let max = Big.max

  (** val coq_lor : Big.t -> Big.t -> Big.t **)

  let coq_lor n0 m =
    (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
      (fun _ -> m)
      (fun p ->
      (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
        (fun _ -> n0)
        (fun q -> (Coq_Pos.coq_lor p q))
        m)
      n0

  (** val ldiff : Big.t -> Big.t -> Big.t **)

  let ldiff n0 m =
    (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
      (fun _ -> Big.zero)
      (fun p ->
      (fun fz fp n -> if Big.sign n = 0 then fz () else fp n)
        (fun _ -> n0)
        (fun q -> Coq_Pos.ldiff p q)
        m)
      n0
 end

(** val nth : int -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth n0 l default =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> match l with
              | [] -> default
              | x :: _ -> x)
    (fun m -> match l with
              | [] -> default
              | _ :: t -> nth m t default)
    n0

(** val nth_error : 'a1 list -> int -> 'a1 option **)

let rec nth_error l n0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> match l with
              | [] -> None
              | x :: _ -> Some x)
    (fun n1 -> match l with
               | [] -> None
               | _ :: l0 -> nth_error l0 n1)
    n0

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t -> (f a) :: (map f t)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t -> app (f x) (flat_map f t)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t -> f b (fold_right f a0 t)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val seq : int -> int -> int list **)

let rec seq start0 len =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun len0 -> start0 :: (seq (Stdlib.Int.succ start0) len0))
    len

(** val repeat : 'a1 -> int -> 'a1 list **)

let rec repeat x n0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun k -> x :: (repeat x k))
    n0

module Z =
 struct
  (** val double : Big.t -> Big.t **)

  let double x =
    (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
      (fun _ -> Big.zero)
      (fun p -> ((fun x -> Big.shift_left x 1) p))
      (fun p -> Big.neg ((fun x -> Big.shift_left x 1) p))
      x

  (** val succ_double : Big.t -> Big.t **)

  let succ_double x =
    (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
      (fun _ -> Big.one)
      (fun p -> ((fun x -> Big.succ (Big.shift_left x 1)) p))
      (fun p -> Big.neg (Coq_Pos.pred_double p))
      x

  (** val pred_double : Big.t -> Big.t **)

  let pred_double x =
    (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
      (fun _ -> Big.neg Big.one)
      (fun p -> (Coq_Pos.pred_double p))
      (fun p -> Big.neg ((fun x -> Big.succ (Big.shift_left x 1)) p))
      x

  (** val pos_sub : Big.t -> Big.t -> Big.t **)

  let rec pos_sub x y =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> double (pos_sub p q))
        (fun q -> succ_double (pos_sub p q))
        (fun _ -> ((fun x -> Big.shift_left x 1) p))
        y)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> pred_double (pos_sub p q))
        (fun q -> double (pos_sub p q))
        (fun _ -> (Coq_Pos.pred_double p))
        y)
      (fun _ ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun q -> Big.neg ((fun x -> Big.shift_left x 1) q))
        (fun q -> Big.neg (Coq_Pos.pred_double q))
        (fun _ -> Big.zero)
        y)
      x

  (** val add : Big.t -> Big.t -> Big.t **)

  let add = Big.add

  (** val opp : Big.t -> Big.t **)

  let opp = Big.neg

  (** val sub : Big.t -> Big.t -> Big.t **)

  let sub = Big.sub

  (** val mul : Big.t -> Big.t -> Big.t **)

  let mul = Big.mul

  (** val pow_pos : Big.t -> Big.t -> Big.t **)

  let pow_pos z0 =
    Coq_Pos.iter (mul z0) Big.one

  (** val pow : Big.t -> Big.t -> Big.t **)

  let pow = (fun a n -> if Big.sign n < 0 then Big.zero else Big.pow a (Big.to_int n))

  (** val compare : Big.t -> Big.t -> comparison **)

  let compare x y =
    (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
      (fun _ ->
      (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
        (fun _ -> Eq)
        (fun _ -> Lt)
        (fun _ -> Gt)
        y)
      (fun x' ->
      (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
        (fun _ -> Gt)
        (fun y' -> Coq_Pos.compare x' y')
        (fun _ -> Gt)
        y)
      (fun x' ->
      (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
        (fun _ -> Lt)
        (fun _ -> Lt)
        (fun y' -> compOpp (Coq_Pos.compare x' y'))
        y)
      x

  (** val leb : Big.t -> Big.t -> bool **)

  let leb = Big.leq

  (** val ltb : Big.t -> Big.t -> bool **)

  let ltb = Big.lt

  (** val eqb : Big.t -> Big.t -> bool **)

  let eqb = Big.equal

  (** val abs : Big.t -> Big.t **)

  let abs = Big.abs

  (** val to_N : Big.t -> Big.t **)

  let to_N = (fun z -> if Big.sign z < 0 then Big.zero else z)

  (** val of_nat : int -> Big.t **)

  let of_nat = Big.of_int

  (** val of_N : Big.t -> Big.t **)

  let of_N = (fun n -> n)

  (** val to_pos : Big.t -> Big.t **)

  let to_pos = (fun z -> if Big.sign z > 0 then z else Big.one)

  (** val pos_div_eucl : Big.t -> Big.t -> Big.t * Big.t **)

  let rec pos_div_eucl a b =
    (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' = add (mul ((fun x -> Big.shift_left x 1) Big.one) r) Big.one in
      if ltb r' b
      then ((mul ((fun x -> Big.shift_left x 1) Big.one) q), r')
      else ((add (mul ((fun x -> Big.shift_left x 1) Big.one) q) Big.one),
             (sub r' b)))
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' = mul ((fun x -> Big.shift_left x 1) Big.one) r in
      if ltb r' b
      then ((mul ((fun x -> Big.shift_left x 1) Big.one) q), r')
      else ((add (mul ((fun x -> Big.shift_left x 1) Big.one) q) Big.one),
             (sub r' b)))
      (fun _ ->
      if leb ((fun x -> Big.shift_left x 1) Big.one) b
      then (Big.zero, Big.one)
      else (Big.one, Big.zero))
      a

  (** val div_eucl : Big.t -> Big.t -> Big.t * Big.t **)

  let div_eucl a b =
    (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
      (fun _ -> (Big.zero, Big.zero))
      (fun a' ->
      (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
        (fun _ -> (Big.zero, a))
        (fun _ -> pos_div_eucl a' b)
        (fun b' ->
        let (q, r) = pos_div_eucl a' b' in
        ((fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
           (fun _ -> ((opp q), Big.zero))
           (fun _ -> ((opp (add q Big.one)), (add b r)))
           (fun _ -> ((opp (add q Big.one)), (add b r)))
           r))
        b)
      (fun a' ->
      (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
        (fun _ -> (Big.zero, a))
        (fun _ ->
        let (q, r) = pos_div_eucl a' b in
        ((fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
           (fun _ -> ((opp q), Big.zero))
           (fun _ -> ((opp (add q Big.one)), (sub b r)))
           (fun _ -> ((opp (add q Big.one)), (sub b r)))
           r))
        (fun b' -> let (q, r) = pos_div_eucl a' b' in (q, (opp r)))
        b)
      a

  (** val div : Big.t -> Big.t -> Big.t **)

  let div = (fun a b -> if Big.sign b = 0 then Big.zero else Big.fdiv a b)

  (** val div2 : Big.t -> Big.t **)

  let div2 z0 =
    (fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))
      (fun _ -> Big.zero)
      (fun p ->
      (fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)
        (fun _ -> (Coq_Pos.div2 p))
        (fun _ -> (Coq_Pos.div2 p))
        (fun _ -> Big.zero)
        p)
      (fun p -> Big.neg (Coq_Pos.div2_up p))
      z0

  (** val log2 : Big.t -> Big.t **)

  let log2 = (fun a -> if Big.sign a > 0 then Big.of_int (Big.numbits a - 1) else Big.zero)

  (** val gcd : Big.t -> Big.t -> Big.t **)

  let gcd = Big.gcd

  (** val shiftl : Big.t -> Big.t -> Big.t **)

  let shiftl = (fun a n -> if Big.sign n >= 0 then Big.shift_left a (Big.to_int n) else Big.shift_right a (Big.to_int (Big.neg n)))

  (** val shiftr : Big.t -> Big.t -> Big.t **)

  let shiftr = (fun a n -> if Big.sign n >= 0 then Big.shift_right a (Big.to_int n) else Big.shift_left a (Big.to_int (Big.neg n)))

  (** val coq_land : Big.t -> Big.t -> Big.t **)

  let coq_land = Big.logand
 end

module DOps =
 struct
  type num = { man : Big.t; ex : Big.t; de : Big.t }

  (** val man : num -> Big.t **)

  let man n0 =
    n0.man

  (** val ex : num -> Big.t **)

  let ex n0 =
    n0.ex

  (** val de : num -> Big.t **)

  let de n0 =
    n0.de

  type coq_T = num

  (** val two : Big.t -> Big.t **)

  let two e =
    Z.shiftl Big.one (Z.of_N e)

  (** val zero : coq_T **)

  let zero =
    { man = Big.zero; ex = Big.zero; de = Big.one }

  (** val one : coq_T **)

  let one =
    { man = Big.one; ex = Big.zero; de = Big.one }

  (** val mul : coq_T -> coq_T -> coq_T **)

  let mul a b =
    { man = (Z.mul a.man b.man); ex = (N.add a.ex b.ex); de =
      (Coq_Pos.mul a.de b.de) }

  (** val up : Big.t -> Big.t -> Big.t -> Big.t **)

  let up m e f =
    Z.shiftl m (Z.of_N (N.sub f e))

  (** val lift : (Big.t -> Big.t -> Big.t) -> coq_T -> coq_T -> coq_T **)

  let lift op a b =
    let e = N.max a.ex b.ex in
    let x = up a.man a.ex e in
    let y = up b.man b.ex e in
    if Coq_Pos.eqb a.de b.de
    then { man = (op x y); ex = e; de = a.de }
    else let g = Z.gcd a.de b.de in
         let p = Z.div a.de g in
         let q = Z.div b.de g in
         { man = (op (Z.mul x q) (Z.mul y p)); ex = e; de =
         (Z.to_pos (Z.mul a.de q)) }

  (** val add : coq_T -> coq_T -> coq_T **)

  let add a b =
    if Z.eqb a.man Big.zero
    then b
    else if Z.eqb b.man Big.zero then a else lift Z.add a b

  (** val sub : coq_T -> coq_T -> coq_T **)

  let sub a b =
    lift Z.sub a b

  (** val leb : coq_T -> coq_T -> bool **)

  let leb a b =
    let e = N.max a.ex b.ex in
    if Coq_Pos.eqb a.de b.de
    then Z.leb (up a.man a.ex e) (up b.man b.ex e)
    else Z.leb (Z.mul (up a.man a.ex e) b.de) (Z.mul (up b.man b.ex e) a.de)

  (** val isz : coq_T -> bool **)

  let isz a =
    Z.eqb a.man Big.zero

  (** val floor : coq_T -> coq_T **)

  let floor a =
    { man = (Z.div a.man (Z.mul (two a.ex) a.de)); ex = Big.zero; de =
      Big.one }

  (** val frac : Big.t -> Big.t -> coq_T **)

  let frac a b =
    { man = a; ex = Big.zero; de = b }

  (** val dyad : Big.t -> Big.t -> coq_T **)

  let dyad a n0 =
    { man = a; ex = n0; de = Big.one }
 end

type num0 = DOps.coq_T

(** val ltb0 : num0 -> num0 -> bool **)

let ltb0 a b =
  negb (DOps.leb b a)

(** val eqb0 : num0 -> num0 -> bool **)

let eqb0 a b =
  (&&) (DOps.leb a b) (DOps.leb b a)

(** val fromZ : Big.t -> num0 **)

let fromZ z0 =
  DOps.dyad z0 Big.zero

(** val maxT : num0 -> num0 -> num0 **)

let maxT a b =
  if DOps.leb a b then b else a

(** val minT : num0 -> num0 -> num0 **)

let minT a b =
  if DOps.leb a b then a else b

(** val negT : num0 -> num0 **)

let negT a =
  DOps.sub DOps.zero a

(** val absT : num0 -> num0 **)

let absT a =
  if DOps.leb DOps.zero a then a else negT a

(** val trailing : Big.t -> Big.t **)

let trailing z0 =
  Z.log2 (Z.coq_land z0 (Z.opp z0))

(** val norm : num0 -> num0 **)

let norm a =
  let d = Z.mul (DOps.two a.DOps.ex) a.DOps.de in
  let g = Z.gcd a.DOps.man d in
  let m = Z.div a.DOps.man g in
  let q = Z.div d g in
  let t = Z.to_N (trailing q) in
  let r = Z.shiftr q (Z.of_N t) in
  if (&&) ((&&) (Z.eqb (Z.mul m g) a.DOps.man) (Z.eqb (Z.mul q g) d))
       ((&&) (Z.eqb (Z.shiftl r (Z.of_N t)) q)
         ((&&) (Z.ltb Big.zero g) (Z.ltb Big.zero r)))
  then { DOps.man = m; DOps.ex = t; DOps.de = (Z.to_pos r) }
  else a

(** val digits : num0 -> Big.t **)

let digits a =
  Z.add (Z.add (Z.log2 a.DOps.de) Big.one) (Z.of_N a.DOps.ex)

(** val div0 : num0 -> num0 -> num0 **)

let div0 a b =
  let n0 = Z.mul a.DOps.man (Z.mul b.DOps.de (DOps.two b.DOps.ex)) in
  { DOps.man = (if Z.ltb b.DOps.man Big.zero then Z.opp n0 else n0);
  DOps.ex = a.DOps.ex; DOps.de =
  (Z.to_pos (Z.mul a.DOps.de (Z.abs b.DOps.man))) }

(** val ceil : num0 -> num0 **)

let ceil a =
  negT (DOps.floor (negT a))

(** val uT : num0 **)

let uT =
  DOps.dyad Big.one ((fun x -> Big.succ (Big.shift_left x 1))
    ((fun x -> Big.shift_left x 1) ((fun x -> Big.succ (Big.shift_left x 1))
    ((fun x -> Big.shift_left x 1) ((fun x -> Big.succ (Big.shift_left x 1))
    Big.one)))))

(** val etaT : num0 **)

let etaT =
  DOps.dyad Big.one ((fun x -> Big.shift_left x 1)
    ((fun x -> Big.succ (Big.shift_left x 1))
    ((fun x -> Big.succ (Big.shift_left x 1))
    ((fun x -> Big.succ (Big.shift_left x 1))
    ((fun x -> Big.succ (Big.shift_left x 1))
    ((fun x -> Big.succ (Big.shift_left x 1)) Big.one))))))

(** val hugeT : num0 **)

let hugeT =
  fromZ
    (Z.pow ((fun x -> Big.shift_left x 1) Big.one)
      ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.succ (Big.shift_left x 1)) Big.one))))))))))

(** val topT : num0 **)

let topT =
  fromZ
    (Z.pow ((fun x -> Big.shift_left x 1) Big.one)
      ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
      Big.one)))))))))))

(** val fits_gamma : int -> bool **)

let fits_gamma n0 =
  Z.ltb
    (Z.add (Z.of_nat n0) ((fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.shift_left x 1) Big.one)))
    (Z.pow ((fun x -> Big.shift_left x 1) Big.one)
      ((fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.succ (Big.shift_left x 1)) Big.one))))))

(** val gammaT : int -> num0 **)

let gammaT n0 =
  DOps.frac
    (Z.add (Z.of_nat n0) ((fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.shift_left x 1) Big.one)))
    (Z.to_pos
      (Z.sub
        (Z.pow ((fun x -> Big.shift_left x 1) Big.one)
          ((fun x -> Big.succ (Big.shift_left x 1))
          ((fun x -> Big.shift_left x 1)
          ((fun x -> Big.succ (Big.shift_left x 1))
          ((fun x -> Big.shift_left x 1)
          ((fun x -> Big.succ (Big.shift_left x 1)) Big.one))))))
        (Z.add (Z.of_nat n0) ((fun x -> Big.succ (Big.shift_left x 1))
          ((fun x -> Big.shift_left x 1) Big.one)))))

(** val floatb : num0 -> bool **)

let floatb a =
  let t = trailing a.DOps.man in
  let m = Z.shiftr a.DOps.man t in
  (&&) (Coq_Pos.eqb a.DOps.de Big.one)
    ((||) (Z.eqb a.DOps.man Big.zero)
      ((&&) (Z.eqb (Z.shiftl m t) a.DOps.man)
        ((&&)
          (Z.ltb (Z.abs m)
            (Z.pow ((fun x -> Big.shift_left x 1) Big.one)
              ((fun x -> Big.succ (Big.shift_left x 1))
              ((fun x -> Big.shift_left x 1)
              ((fun x -> Big.succ (Big.shift_left x 1))
              ((fun x -> Big.shift_left x 1)
              ((fun x -> Big.succ (Big.shift_left x 1)) Big.one)))))))
          ((&&) (Z.leb Big.zero t)
            (Z.leb (Big.neg ((fun x -> Big.shift_left x 1)
              ((fun x -> Big.succ (Big.shift_left x 1))
              ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
              ((fun x -> Big.succ (Big.shift_left x 1))
              ((fun x -> Big.succ (Big.shift_left x 1))
              ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
              ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
              Big.one))))))))))) (Z.sub t (Z.of_N a.DOps.ex)))))))

type spread = { s_lo : DOps.num; s_hi : DOps.num; s_low : DOps.num;
                s_high : DOps.num; s_up : bool; s_down : bool }

(** val mapo : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 list option **)

let rec mapo f = function
| [] -> Some []
| a :: l' ->
  (match f a with
   | Some b -> (match mapo f l' with
                | Some r -> Some (b :: r)
                | None -> None)
   | None -> None)

(** val short : DOps.num -> bool **)

let short a =
  Z.leb (digits a)
    (Z.pow ((fun x -> Big.shift_left x 1) Big.one)
      ((fun x -> Big.succ (Big.shift_left x 1))
      ((fun x -> Big.shift_left x 1)
      ((fun x -> Big.succ (Big.shift_left x 1)) Big.one))))

(** val settle :
    DOps.num -> DOps.num -> DOps.num -> DOps.num -> bool -> bool -> spread
    option **)

let settle lo hi low high up1 down0 =
  let lo0 = norm lo in
  let hi0 = norm hi in
  let low0 =
    norm
      (if up1 then DOps.zero else maxT (minT low DOps.zero) (DOps.sub lo0 hi0))
  in
  let high0 =
    norm
      (if down0
       then DOps.zero
       else minT (maxT high DOps.zero) (DOps.sub hi0 lo0))
  in
  if (&&) ((&&) (ltb0 (negT hugeT) lo0) (ltb0 hi0 hugeT))
       ((&&) ((&&) (short lo0) (short hi0)) ((&&) (short low0) (short high0)))
  then Some { s_lo = lo0; s_hi = hi0; s_low = low0; s_high = high0; s_up =
         up1; s_down = down0 }
  else None

(** val size0 : spread -> DOps.num **)

let size0 s =
  maxT (negT s.s_lo) s.s_hi

(** val same : spread -> bool **)

let same s =
  (&&) s.s_up s.s_down

(** val sum_of : (spread -> DOps.num) -> spread list -> DOps.num **)

let rec sum_of f = function
| [] -> DOps.zero
| y :: ys' -> DOps.add (f y) (sum_of f ys')

(** val max_of : (spread -> DOps.num) -> spread list -> DOps.num **)

let rec max_of f = function
| [] -> DOps.zero
| y :: ys' -> maxT (f y) (max_of f ys')

(** val twice : DOps.num -> DOps.num **)

let twice a =
  DOps.add a a

(** val scale_err : DOps.num -> DOps.num -> DOps.num **)

let scale_err d rate =
  DOps.add
    (DOps.mul
      (DOps.mul
        (DOps.sub (DOps.mul (DOps.add DOps.one uT) (DOps.add DOps.one uT))
          DOps.one) d) rate)
    (DOps.mul (twice etaT) (DOps.add (DOps.add DOps.one rate) d))

(** val ramp_spread :
    spread list -> ((int * DOps.num) * DOps.num) -> spread option **)

let ramp_spread ys c =
  match nth_error ys (fst (fst c)) with
  | Some s ->
    let start0 = snd (fst c) in
    let rate = snd c in
    let d = maxT (DOps.sub start0 s.s_lo) (DOps.sub s.s_hi start0) in
    let e = twice (scale_err d rate) in
    if (&&) ((&&) (ltb0 DOps.zero rate) (DOps.leb rate topT))
         ((&&) (ltb0 (DOps.mul d rate) hugeT) (ltb0 d hugeT))
    then settle DOps.zero DOps.one (DOps.sub (DOps.mul rate s.s_low) e)
           (DOps.add (DOps.mul rate s.s_high) e) s.s_up s.s_down
    else None
  | None -> None

(** val ext :
    (spread -> DOps.num) -> (spread -> DOps.num) -> DOps.num list -> spread
    list -> DOps.num **)

let rec ext f g row0 ys =
  match row0 with
  | [] -> DOps.zero
  | w :: row' ->
    (match ys with
     | [] -> DOps.zero
     | y :: ys' ->
       DOps.add (DOps.mul w (if DOps.leb DOps.zero w then f y else g y))
         (ext f g row' ys'))

(** val rising :
    (spread -> bool) -> (spread -> bool) -> DOps.num list -> spread list ->
    bool **)

let rec rising up1 down0 row0 ys =
  match row0 with
  | [] -> true
  | w :: row' ->
    (match ys with
     | [] -> true
     | y :: ys' ->
       (&&)
         ((||) (DOps.isz w) (if DOps.leb DOps.zero w then up1 y else down0 y))
         (rising up1 down0 row' ys'))

(** val abs_dot : DOps.num list -> DOps.num list -> DOps.num **)

let rec abs_dot row0 y =
  match row0 with
  | [] -> DOps.zero
  | w :: row' ->
    (match y with
     | [] -> DOps.zero
     | y0 :: y' -> DOps.add (DOps.mul (absT w) y0) (abs_dot row' y'))

(** val abs_sum : DOps.num list -> DOps.num **)

let abs_sum row0 =
  fold_right (fun w s -> DOps.add (absT w) s) DOps.zero row0

(** val linear_err : int -> DOps.num -> DOps.num -> DOps.num -> DOps.num **)

let linear_err n0 total weights inputs =
  let g = gammaT n0 in
  DOps.add (DOps.mul g total)
    (DOps.mul (DOps.mul (DOps.add DOps.one g) etaT)
      (DOps.add
        (DOps.add
          (fromZ
            (Z.add
              (Z.mul ((fun x -> Big.succ (Big.shift_left x 1)) Big.one)
                (Z.of_nat n0)) ((fun x -> Big.succ (Big.shift_left x 1))
              Big.one))) weights) inputs))

(** val row_spread :
    spread list -> DOps.num list -> DOps.num -> (DOps.num list * DOps.num) ->
    spread option **)

let row_spread ys sizes inputs = function
| (row0, b) ->
  let n0 = length row0 in
  let total = norm (DOps.add (abs_dot row0 sizes) (absT b)) in
  let e = norm (linear_err n0 total (abs_sum row0) inputs) in
  if (&&) ((&&) ((=) n0 (length ys)) (fits_gamma n0))
       (ltb0 (DOps.add total e) hugeT)
  then settle
         (DOps.sub
           (DOps.add (ext (fun s -> s.s_lo) (fun s -> s.s_hi) row0 ys) b) e)
         (DOps.add
           (DOps.add (ext (fun s -> s.s_hi) (fun s -> s.s_lo) row0 ys) b) e)
         (DOps.sub (ext (fun s -> s.s_low) (fun s -> s.s_high) row0 ys)
           (twice e))
         (DOps.add (ext (fun s -> s.s_high) (fun s -> s.s_low) row0 ys)
           (twice e)) (rising (fun s -> s.s_up) (fun s -> s.s_down) row0 ys)
         (rising (fun s -> s.s_down) (fun s -> s.s_up) row0 ys)
  else None

(** val rows_spread :
    spread list -> (DOps.num list * DOps.num) list -> spread list option **)

let rows_spread ys rows =
  let sizes = map size0 ys in
  let inputs = norm (sum_of size0 ys) in
  mapo (row_spread ys sizes inputs) rows

(** val kink_spread :
    (DOps.num -> DOps.num -> DOps.num) -> spread -> spread option **)

let kink_spread cut s =
  settle (cut s.s_lo DOps.zero) (cut s.s_hi DOps.zero) s.s_low s.s_high
    s.s_up s.s_down

(** val kinks_spread : int -> spread list -> spread list option **)

let rec kinks_spread convex = function
| [] -> Some []
| s :: ys' ->
  (match (fun fO fS n -> if n=0 then fO () else fS (n-1))
           (fun _ -> kink_spread minT s)
           (fun _ -> kink_spread maxT s)
           convex with
   | Some t ->
     (match kinks_spread (pred convex) ys' with
      | Some r -> Some (t :: r)
      | None -> None)
   | None -> None)

(** val blocks : int -> int -> int list list **)

let blocks side block =
  let corners = map (fun i -> mul i block) (seq 0 (Nat.div side block)) in
  flat_map (fun top ->
    map (fun left ->
      flat_map (fun r ->
        map (fun c -> add (add (mul (add top r) side) left) c) (seq 0 block))
        (seq 0 block)) corners) corners

(** val mean_spread : spread list -> int list -> spread option **)

let mean_spread ys places =
  match mapo (nth_error ys) places with
  | Some part0 ->
    let n0 = length part0 in
    let count = fromZ (Z.of_nat n0) in
    let inputs = sum_of size0 part0 in
    let total = div0 inputs count in
    let e = norm (linear_err n0 total DOps.one inputs) in
    if (&&) ((&&) (Nat.ltb 0 n0) (fits_gamma n0))
         (ltb0 (DOps.mul (DOps.add total e) count) hugeT)
    then settle (DOps.sub (div0 (sum_of (fun s -> s.s_lo) part0) count) e)
           (DOps.add (div0 (sum_of (fun s -> s.s_hi) part0) count) e)
           (DOps.sub (div0 (sum_of (fun s -> s.s_low) part0) count) (twice e))
           (DOps.add (div0 (sum_of (fun s -> s.s_high) part0) count)
             (twice e)) (forallb (fun s -> s.s_up) part0)
           (forallb (fun s -> s.s_down) part0)
    else None
  | None -> None

(** val abs_max : DOps.num list -> DOps.num **)

let abs_max row0 =
  fold_right (fun w m -> maxT (absT w) m) DOps.zero row0

(** val distance_spread :
    spread list -> (DOps.num list * DOps.num) -> spread option **)

let distance_spread ys = function
| (row0, b) ->
  let far0 = DOps.add (abs_max row0) (max_of size0 ys) in
  let most = max_of (fun s -> maxT (negT s.s_low) s.s_high) ys in
  let e1 = DOps.add (DOps.mul uT far0) etaT in
  let e =
    norm
      (DOps.add e1
        (DOps.add (DOps.mul uT (DOps.add (DOps.add far0 e1) (absT b))) etaT))
  in
  let all = forallb same ys in
  if (=) (length row0) (length ys)
  then settle (DOps.sub b e) (DOps.add (DOps.add far0 b) e)
         (negT (DOps.add most (twice e))) (DOps.add most (twice e)) all all
  else None

type tree =
| Tip of DOps.num
| Ask of int * DOps.num * tree * tree

(** val extreme :
    (DOps.num -> DOps.num -> DOps.num) -> (spread -> DOps.num) -> spread ->
    spread list -> DOps.num **)

let extreme pick f s l =
  fold_right (fun t m -> pick (f t) m) (f s) l

(** val set_spread : spread list -> int list -> spread option **)

let set_spread ys places =
  match mapo (nth_error ys) places with
  | Some l0 ->
    (match l0 with
     | [] -> None
     | s :: l ->
       Some { s_lo = (extreme maxT (fun s0 -> s0.s_lo) s l); s_hi =
         (extreme maxT (fun s0 -> s0.s_hi) s l); s_low =
         (extreme minT (fun s0 -> s0.s_low) s l); s_high =
         (extreme maxT (fun s0 -> s0.s_high) s l); s_up = false; s_down =
         false })
  | None -> None

type four = { f_lo : DOps.num; f_hi : DOps.num; f_low : DOps.num;
              f_high : DOps.num }

(** val joined : four -> four -> bool -> bool -> four **)

let joined l r on back =
  let low = minT l.f_low r.f_low in
  let high = maxT l.f_high r.f_high in
  let low' = if on then minT low (DOps.sub r.f_lo l.f_hi) else low in
  let high' = if on then maxT high (DOps.sub r.f_hi l.f_lo) else high in
  { f_lo = (minT l.f_lo r.f_lo); f_hi = (maxT l.f_hi r.f_hi); f_low =
  (if back then minT low' (DOps.sub l.f_lo r.f_hi) else low'); f_high =
  (if back then maxT high' (DOps.sub l.f_hi r.f_lo) else high') }

(** val tree_four : spread list -> tree -> four option **)

let rec tree_four asks = function
| Tip v ->
  if floatb v
  then Some { f_lo = v; f_hi = v; f_low = DOps.zero; f_high = DOps.zero }
  else None
| Ask (q, th, l, r) ->
  (match nth_error asks q with
   | Some s ->
     if DOps.leb s.s_hi th
     then tree_four asks l
     else if ltb0 th s.s_lo
          then tree_four asks r
          else (match tree_four asks l with
                | Some a ->
                  (match tree_four asks r with
                   | Some b ->
                     Some
                       (joined a b (ltb0 DOps.zero s.s_high)
                         (ltb0 s.s_low DOps.zero))
                   | None -> None)
                | None -> None)
   | None -> None)

type piece = { p_ask : int; p_low : DOps.num; p_high : DOps.num;
               p_above : DOps.num option; p_upto : DOps.num option }

(** val sooner : DOps.num option -> DOps.num -> DOps.num option **)

let sooner o v =
  Some (match o with
        | Some w -> minT w v
        | None -> v)

(** val later : DOps.num option -> DOps.num -> DOps.num option **)

let later o v =
  Some (match o with
        | Some w -> maxT w v
        | None -> v)

(** val cut_piece : bool -> DOps.num -> piece -> piece **)

let cut_piece left th p =
  if left
  then { p_ask = p.p_ask; p_low = p.p_low; p_high = p.p_high; p_above =
         p.p_above; p_upto = (sooner p.p_upto th) }
  else { p_ask = p.p_ask; p_low = p.p_low; p_high = p.p_high; p_above =
         (later p.p_above th); p_upto = p.p_upto }

(** val narrow :
    spread -> int -> bool -> DOps.num -> piece list -> piece list **)

let rec narrow s q left th = function
| [] ->
  (cut_piece left th { p_ask = q; p_low = s.s_low; p_high = s.s_high;
    p_above = None; p_upto = None }) :: []
| p :: path' ->
  if (=) p.p_ask q
  then (cut_piece left th p) :: path'
  else p :: (narrow s q left th path')

(** val open_leaves :
    spread list -> tree -> piece list -> (DOps.num * piece list) list **)

let rec open_leaves asks t path =
  match t with
  | Tip v -> (v, path) :: []
  | Ask (q, th, l, r) ->
    (match nth_error asks q with
     | Some s ->
       app
         (if DOps.leb s.s_lo th
          then open_leaves asks l (narrow s q true th path)
          else [])
         (if ltb0 th s.s_hi
          then open_leaves asks r (narrow s q false th path)
          else [])
     | None -> [])

(** val apart : piece -> piece -> bool **)

let apart second0 first =
  (||)
    (match second0.p_above with
     | Some a ->
       (match first.p_upto with
        | Some b -> DOps.leb (DOps.sub b a) second0.p_low
        | None -> false)
     | None -> false)
    (match second0.p_upto with
     | Some b ->
       (match first.p_above with
        | Some a -> DOps.leb second0.p_high (DOps.sub a b)
        | None -> false)
     | None -> false)

(** val a_pair : piece list -> piece list -> bool **)

let a_pair second0 first =
  forallb (fun s ->
    forallb (fun f -> negb ((&&) ((=) s.p_ask f.p_ask) (apart s f))) first)
    second0

(** val compared :
    (DOps.num * piece list) -> (DOps.num * piece list) ->
    (DOps.num * DOps.num) -> DOps.num * DOps.num **)

let compared second0 first r =
  let d = DOps.sub (fst first) (fst second0) in
  if (&&) ((||) (ltb0 d (fst r)) (ltb0 (snd r) d))
       (a_pair (snd second0) (snd first))
  then ((minT (fst r) d), (maxT (snd r) d))
  else r

(** val against :
    (DOps.num * piece list) -> (DOps.num * piece list) list ->
    (DOps.num * DOps.num) -> DOps.num * DOps.num **)

let rec against second0 firsts r =
  match firsts with
  | [] -> r
  | f :: l -> against second0 l (compared second0 f r)

(** val by_pairs :
    (DOps.num * piece list) list -> (DOps.num * piece list) list ->
    (DOps.num * DOps.num) -> DOps.num * DOps.num **)

let rec by_pairs seconds firsts r =
  match seconds with
  | [] -> r
  | s :: l -> by_pairs l firsts (against s firsts r)

(** val leaves : tree -> Big.t **)

let rec leaves = function
| Tip _ -> Big.one
| Ask (_, _, l, r) -> Z.add (leaves l) (leaves r)

(** val tree_spread : spread list -> tree -> spread option **)

let tree_spread asks t =
  match tree_four asks t with
  | Some f ->
    let (low, high) =
      if (&&) ((&&) (ltb0 f.f_low DOps.zero) (ltb0 DOps.zero f.f_high))
           (Z.leb (leaves t) ((fun x -> Big.shift_left x 1)
             ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
             ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
             ((fun x -> Big.shift_left x 1) ((fun x -> Big.shift_left x 1)
             ((fun x -> Big.shift_left x 1) Big.one)))))))))
      then let l = open_leaves asks t [] in
           by_pairs l l (DOps.zero, DOps.zero)
      else (f.f_low, f.f_high)
    in
    if (&&) (ltb0 (negT hugeT) f.f_lo) (ltb0 f.f_hi hugeT)
    then Some { s_lo = f.f_lo; s_hi = f.f_hi; s_low = low; s_high = high;
           s_up = (DOps.leb DOps.zero low); s_down =
           (DOps.leb high DOps.zero) }
    else None
  | None -> None

(** val sum_spread :
    spread list -> (DOps.num * tree list) -> spread option **)

let sum_spread asks o =
  match mapo (tree_spread asks) (snd o) with
  | Some ts ->
    row_spread ts (map size0 ts) (norm (sum_of size0 ts))
      ((repeat DOps.one (length ts)), (fst o))
  | None -> None

(** val trees_spread :
    int list list -> (DOps.num * tree list) list -> spread list -> spread
    list option **)

let trees_spread sets outs0 ys =
  match mapo (set_spread ys) sets with
  | Some m -> mapo (sum_spread (app ys m)) outs0
  | None -> None

type layer =
| Ramps of ((int * DOps.num) * DOps.num) list
| Linear of bool * (DOps.num list * DOps.num) list
| Kinks of int
| Pool of int * int
| Distance of (DOps.num list * DOps.num) list
| Trees of int list list * (DOps.num * tree list) list

(** val layer_spread :
    layer -> spread list -> spread list -> spread list option **)

let layer_spread l ys base =
  match l with
  | Ramps cells -> mapo (ramp_spread ys) cells
  | Linear (b, rows) -> rows_spread (if b then app ys base else ys) rows
  | Kinks c -> kinks_spread c ys
  | Pool (side, block) -> mapo (mean_spread ys) (blocks side block)
  | Distance rows -> mapo (distance_spread ys) rows
  | Trees (sets, outs0) -> trees_spread sets outs0 ys

(** val layers_spread :
    layer list -> spread list -> spread list option -> spread list option **)

let rec layers_spread ls ys base =
  match ls with
  | [] -> Some ys
  | l :: ls' ->
    (match layer_spread l ys (match base with
                              | Some b -> b
                              | None -> []) with
     | Some zs ->
       layers_spread ls' zs
         (match base with
          | Some b -> Some b
          | None -> Some zs)
     | None -> None)

type coord = { c_lo : DOps.num; c_hi : DOps.num; c_shift : DOps.num;
               c_mult : DOps.num; c_whole : bool; c_group : bool;
               c_feature : int }

type term = (DOps.num * bool) * int

type row = { terms : term list; equal : bool; right : DOps.num }

type premise = { when0 : row list; others : bool; equals : int list;
                 frees : int list }

(** val feature_of : coord list -> int -> int option **)

let feature_of cs i =
  option_map (fun c -> c.c_feature) (nth_error cs i)

(** val named : coord list -> premise -> int list **)

let named cs p =
  flat_map (fun i ->
    match feature_of cs i with
    | Some f -> f :: []
    | None -> []) (app p.frees (flat_map (fun r -> map snd r.terms) p.when0))

(** val insert : DOps.num -> bool -> int -> term list -> term list **)

let rec insert c k i = function
| [] -> ((c, k), i) :: []
| t :: ts' ->
  let (p, j) = t in
  let (d, l) = p in
  if (&&) (eqb k l) ((=) i j)
  then (((DOps.add c d), l), j) :: ts'
  else ((d, l), j) :: (insert c k i ts')

(** val merge : term list -> term list **)

let rec merge = function
| [] -> []
| t :: ts' -> let (p, i) = t in let (c, k) = p in insert c k i (merge ts')

(** val clean : term list -> term list **)

let clean ts =
  filter (fun t -> negb (DOps.isz (fst (fst t)))) (merge ts)

type cell = { l1 : DOps.num; h1 : DOps.num; l2 : DOps.num; h2 : DOps.num;
              d_lo : DOps.num option; d_hi : DOps.num option }

(** val omax : DOps.num option -> DOps.num -> DOps.num option **)

let omax o v =
  Some (match o with
        | Some w -> maxT w v
        | None -> v)

(** val omin : DOps.num option -> DOps.num -> DOps.num option **)

let omin o v =
  Some (match o with
        | Some w -> minT w v
        | None -> v)

(** val bounded : bool -> DOps.num -> DOps.num -> bool -> cell -> cell **)

let bounded k a right0 same0 c =
  let q = norm (div0 right0 a) in
  let low = (||) same0 (DOps.leb a DOps.zero) in
  let high = (||) same0 (DOps.leb DOps.zero a) in
  if k
  then { l1 = c.l1; h1 = c.h1; l2 = (if low then maxT c.l2 q else c.l2); h2 =
         (if high then minT c.h2 q else c.h2); d_lo = c.d_lo; d_hi = c.d_hi }
  else { l1 = (if low then maxT c.l1 q else c.l1); h1 =
         (if high then minT c.h1 q else c.h1); l2 = c.l2; h2 = c.h2; d_lo =
         c.d_lo; d_hi = c.d_hi }

(** val stripped : DOps.num -> DOps.num -> bool -> cell -> cell **)

let stripped a right0 same0 c =
  let q = norm (div0 right0 a) in
  { l1 = c.l1; h1 = c.h1; l2 = c.l2; h2 = c.h2; d_lo =
  (if (||) same0 (DOps.leb a DOps.zero) then omax c.d_lo q else c.d_lo);
  d_hi =
  (if (||) same0 (DOps.leb DOps.zero a) then omin c.d_hi q else c.d_hi) }

(** val update : int -> (cell -> cell) -> cell list -> cell list **)

let rec update i f = function
| [] -> []
| c :: l' ->
  ((fun fO fS n -> if n=0 then fO () else fS (n-1))
     (fun _ -> (f c) :: l')
     (fun i' -> c :: (update i' f l'))
     i)

(** val apply : row -> cell list -> cell list option **)

let apply r cells =
  match clean r.terms with
  | [] ->
    if (&&) (DOps.leb DOps.zero r.right)
         ((||) (negb r.equal) (DOps.leb r.right DOps.zero))
    then Some cells
    else None
  | t :: l0 ->
    let (p, i) = t in
    let (a, k) = p in
    (match l0 with
     | [] -> Some (update i (bounded k a r.right r.equal) cells)
     | t0 :: l3 ->
       let (p0, j) = t0 in
       let (b, l) = p0 in
       (match l3 with
        | [] ->
          if (&&) ((=) i j) ((&&) (negb (eqb k l)) (DOps.isz (DOps.add a b)))
          then Some
                 (update i (stripped (if k then b else a) r.right r.equal)
                   cells)
          else Some cells
        | _ :: _ -> Some cells))

(** val apply_all : row list -> cell list -> cell list option **)

let rec apply_all rs cells =
  match rs with
  | [] -> Some cells
  | r :: rs' ->
    (match apply r cells with
     | Some c -> apply_all rs' c
     | None -> None)

type known = { k_l1 : DOps.num; k_h1 : DOps.num; k_l2 : DOps.num;
               k_h2 : DOps.num; k_low : DOps.num; k_high : DOps.num;
               k_pinned : bool }

(** val up0 : bool -> DOps.num -> DOps.num **)

let up0 w v =
  if w then ceil v else v

(** val down : bool -> DOps.num -> DOps.num **)

let down w v =
  if w then DOps.floor v else v

(** val finish1 : bool -> coord -> cell -> known **)

let finish1 pin c k =
  let a = option_map (up0 c.c_whole) k.d_lo in
  let b = option_map (down c.c_whole) k.d_hi in
  let pinned0 =
    (||) pin
      (match a with
       | Some v ->
         (match b with
          | Some w -> (&&) (eqb0 v DOps.zero) (eqb0 w DOps.zero)
          | None -> false)
       | None -> false)
  in
  let low1 = if pinned0 then maxT k.l1 k.l2 else k.l1 in
  let low2 = if pinned0 then maxT k.l1 k.l2 else k.l2 in
  let high1 = if pinned0 then minT k.h1 k.h2 else k.h1 in
  let high2 = if pinned0 then minT k.h1 k.h2 else k.h2 in
  let r = up0 c.c_whole in
  let s = down c.c_whole in
  let least = DOps.sub (r low1) (s high2) in
  let most = DOps.sub (s high1) (r low2) in
  { k_l1 = (r low1); k_h1 = (s high1); k_l2 = (r low2); k_h2 = (s high2);
  k_low =
  (if pinned0
   then DOps.zero
   else (match a with
         | Some v -> maxT least v
         | None -> least)); k_high =
  (if pinned0
   then DOps.zero
   else (match b with
         | Some v -> minT most v
         | None -> most)); k_pinned = pinned0 }

(** val pin_stated : premise -> int list -> int -> coord -> bool **)

let pin_stated p names i c =
  (||) (existsb ((=) i) p.equals)
    ((&&) p.others (negb (existsb ((=) c.c_feature) names)))

(** val finish :
    premise -> int list -> int -> coord list -> cell list -> known list **)

let rec finish p names i cs cells =
  match cs with
  | [] -> []
  | c :: cs' ->
    (match cells with
     | [] -> []
     | k :: cells' ->
       (finish1 (pin_stated p names i c) c k) :: (finish p names
                                                   (Stdlib.Int.succ i) cs'
                                                   cells'))

(** val start : coord -> cell **)

let start c =
  { l1 = c.c_lo; h1 = c.c_hi; l2 = c.c_lo; h2 = c.c_hi; d_lo = None; d_hi =
    None }

(** val ground : coord list -> premise -> known list option **)

let ground cs p =
  match apply_all p.when0 (map start cs) with
  | Some cells -> Some (finish p (named cs p) 0 cs cells)
  | None -> None

(** val coord_ok : coord -> DOps.num -> bool **)

let coord_ok c v =
  (&&) ((&&) (DOps.leb c.c_lo v) (DOps.leb v c.c_hi))
    ((&&) ((||) (negb c.c_whole) (eqb0 v (DOps.floor v))) (floatb v))

(** val domain_ok : coord list -> DOps.num list -> bool **)

let rec domain_ok cs x =
  match cs with
  | [] -> (match x with
           | [] -> true
           | _ :: _ -> false)
  | c :: cs' ->
    (match x with
     | [] -> false
     | v :: x' -> (&&) (coord_ok c v) (domain_ok cs' x'))

(** val left_num : DOps.num list -> DOps.num list -> term list -> DOps.num **)

let rec left_num x y = function
| [] -> DOps.zero
| t :: ts' ->
  let (p, i) = t in
  let (c, k) = p in
  DOps.add (DOps.mul c (nth i (if k then y else x) DOps.zero))
    (left_num x y ts')

(** val row_ok : DOps.num list -> DOps.num list -> row -> bool **)

let row_ok x y r =
  let l = left_num x y r.terms in
  (&&) (DOps.leb l r.right) ((||) (negb r.equal) (DOps.leb r.right l))

(** val pins_ok :
    premise -> int list -> int -> coord list -> DOps.num list -> DOps.num
    list -> bool **)

let rec pins_ok p names i cs x y =
  match cs with
  | [] -> true
  | c :: cs' ->
    (match x with
     | [] -> false
     | a :: x' ->
       (match y with
        | [] -> false
        | b :: y' ->
          (&&) ((||) (negb (pin_stated p names i c)) (eqb0 a b))
            (pins_ok p names (Stdlib.Int.succ i) cs' x' y')))

(** val witness_ok :
    coord list -> premise -> DOps.num list -> DOps.num list -> bool **)

let witness_ok cs p x y =
  (&&) ((&&) (domain_ok cs x) (domain_ok cs y))
    ((&&) (forallb (row_ok x y) p.when0)
      ((&&) (pins_ok p (named cs p) 0 cs x y)
        (forallb (fun i -> Nat.ltb i (length cs)) p.equals)))

type branch = { columns : int list; steps : layer list; pinned : int option;
                box : (DOps.num * DOps.num) list }

type part = { hidden : (DOps.num list * DOps.num) list; skips : bool;
              sums : (DOps.num list * DOps.num) list }

type net = { coords : coord list; encoder : branch list option; lower : 
             part; second : part;
             head : ((DOps.num list * DOps.num) * DOps.num) list }

(** val bind : 'a1 option -> ('a1 -> 'a2 option) -> 'a2 option **)

let bind o f =
  match o with
  | Some a -> f a
  | None -> None

(** val passes : branch -> bool **)

let passes b =
  match b.steps with
  | [] -> (match b.pinned with
           | Some _ -> false
           | None -> true)
  | _ :: _ -> false

(** val far : coord -> DOps.num **)

let far c =
  maxT (DOps.sub c.c_shift c.c_lo) (DOps.sub c.c_hi c.c_shift)

(** val plain : coord -> bool **)

let plain c =
  (&&) (DOps.isz c.c_shift) (eqb0 c.c_mult DOps.one)

(** val error : coord -> DOps.num **)

let error c =
  if plain c then DOps.zero else scale_err (far c) c.c_mult

(** val scales : coord -> bool **)

let scales c =
  (&&) ((&&) (ltb0 DOps.zero c.c_mult) (DOps.leb c.c_mult topT))
    ((&&) (ltb0 (far c) hugeT) (ltb0 (DOps.mul (far c) c.c_mult) hugeT))

(** val input_size : coord -> DOps.num **)

let input_size c =
  DOps.add (DOps.mul (far c) c.c_mult) (error c)

type dir = bool * bool

(** val move : bool -> bool -> DOps.num -> DOps.num -> dir option **)

let move pinned0 group low high =
  if pinned0
  then Some (true, true)
  else if group
       then None
       else if DOps.leb high DOps.zero
            then Some (false, true)
            else if DOps.leb DOps.zero low then Some (true, false) else None

(** val raw_spread : coord -> known -> spread option **)

let raw_spread c k =
  let low = DOps.leb DOps.zero k.k_low in
  let high = DOps.leb k.k_high DOps.zero in
  let up1 = (||) k.k_pinned ((&&) (negb c.c_group) low) in
  let down0 = (||) k.k_pinned ((&&) (negb c.c_group) high) in
  let e = error c in
  let at_ = fun v -> DOps.mul c.c_mult (DOps.sub v c.c_shift) in
  settle (DOps.sub (at_ (minT k.k_l1 k.k_l2)) e)
    (DOps.add (at_ (maxT k.k_h1 k.k_h2)) e)
    (DOps.sub (DOps.mul c.c_mult k.k_low) (twice e))
    (DOps.add (DOps.mul c.c_mult k.k_high) (twice e)) up1 down0

type moving = dir option * DOps.num

(** val pass_moving : coord -> known -> moving **)

let pass_moving c k =
  ((move k.k_pinned c.c_group k.k_low k.k_high), (input_size c))

(** val cut_moving : (DOps.num * DOps.num) -> spread -> moving option **)

let cut_moving b s =
  let (l, h) = b in
  if (&&) (DOps.leb l h) ((&&) (ltb0 (negT hugeT) l) (ltb0 h hugeT))
  then (match settle (maxT l (minT s.s_lo h)) (maxT l (minT s.s_hi h))
                s.s_low s.s_high s.s_up s.s_down with
        | Some t ->
          Some ((move (same t) false t.s_low t.s_high), (maxT (negT l) h))
        | None -> None)
  else None

(** val pinned_moving : bool -> (DOps.num * DOps.num) -> moving option **)

let pinned_moving all = function
| (l, h) ->
  if (&&) (DOps.leb l h) ((&&) (ltb0 (negT hugeT) l) (ltb0 h hugeT))
  then (match settle l h (DOps.sub l h) (DOps.sub h l) all all with
        | Some t ->
          Some ((move (same t) false t.s_low t.s_high), (maxT (negT l) h))
        | None -> None)
  else None

(** val map2o :
    ('a1 -> 'a2 -> 'a3 option) -> 'a1 list -> 'a2 list -> 'a3 list option **)

let rec map2o f l m =
  match l with
  | [] -> (match m with
           | [] -> Some []
           | _ :: _ -> None)
  | a :: l' ->
    (match m with
     | [] -> None
     | b :: m' ->
       bind (f a b) (fun c -> bind (map2o f l' m') (fun r -> Some (c :: r))))

(** val branch_moving :
    coord list -> known list -> branch -> moving list option **)

let branch_moving cs ks b =
  bind
    (mapo (fun i ->
      bind (nth_error cs i) (fun c ->
        bind (nth_error ks i) (fun k -> raw_spread c k))) b.columns)
    (fun ys ->
    if passes b
    then mapo (fun i ->
           bind (nth_error cs i) (fun c ->
             bind (nth_error ks i) (fun k -> Some (pass_moving c k))))
           b.columns
    else bind (layers_spread b.steps ys None) (fun zs ->
           match b.pinned with
           | Some j ->
             if (=) j (length b.box)
             then mapo (pinned_moving (forallb same zs)) b.box
             else None
           | None -> map2o cut_moving b.box zs))

(** val encoder_moving :
    coord list -> known list -> branch list -> moving list option **)

let rec encoder_moving cs ks = function
| [] -> Some []
| b :: bs' ->
  bind (branch_moving cs ks b) (fun y ->
    bind (encoder_moving cs ks bs') (fun r -> Some (app y r)))

(** val pass_all : coord list -> known list -> moving list **)

let rec pass_all cs ks =
  match cs with
  | [] -> []
  | c :: cs' ->
    (match ks with
     | [] -> []
     | k :: ks' -> (pass_moving c k) :: (pass_all cs' ks'))

(** val inputs_moving : net -> known list -> moving list option **)

let inputs_moving n0 ks =
  if forallb scales n0.coords
  then (match n0.encoder with
        | Some bs -> encoder_moving n0.coords ks bs
        | None -> Some (pass_all n0.coords ks))
  else None

(** val row_size :
    DOps.num list -> DOps.num -> (DOps.num list * DOps.num) -> DOps.num option **)

let row_size y inputs = function
| (row0, b) ->
  let n0 = length row0 in
  let t = norm (DOps.add (abs_dot row0 y) (absT b)) in
  let e = linear_err n0 t (abs_sum row0) inputs in
  if (&&) ((&&) ((=) n0 (length y)) (fits_gamma n0))
       (ltb0 (DOps.add t e) hugeT)
  then Some (norm (DOps.add t e))
  else None

(** val rows_size :
    DOps.num list -> (DOps.num list * DOps.num) list -> DOps.num list option **)

let rows_size y rows =
  let inputs = norm (fold_right DOps.add DOps.zero y) in
  mapo (row_size y inputs) rows

(** val part_size : part -> DOps.num list -> DOps.num list option **)

let part_size p y =
  bind (rows_size y p.hidden) (fun t ->
    rows_size (app (if p.skips then y else []) t) p.sums)

(** val upper_size : DOps.num -> DOps.num -> DOps.num option **)

let upper_size l s =
  let v =
    norm (DOps.add (DOps.mul (DOps.add l s) (DOps.add DOps.one uT)) etaT)
  in
  if ltb0 v hugeT then Some v else None

(** val head_fits :
    DOps.num list -> DOps.num -> ((DOps.num list * DOps.num) * DOps.num) ->
    bool **)

let head_fits z0 inputs = function
| (p, c) ->
  let (row0, b) = p in
  let n0 = length row0 in
  let g = gammaT n0 in
  let t = norm (DOps.add (abs_dot row0 z0) (absT b)) in
  let e =
    DOps.add (DOps.mul g t)
      (DOps.mul
        (DOps.mul (DOps.add DOps.one g) (DOps.mul etaT (maxT DOps.one c)))
        (DOps.add
          (DOps.add
            (fromZ
              (Z.add
                (Z.mul ((fun x -> Big.succ (Big.shift_left x 1)) Big.one)
                  (Z.of_nat n0)) ((fun x -> Big.succ (Big.shift_left x 1))
                Big.one))) (abs_sum row0)) inputs))
  in
  let small = fun w -> ltb0 (absT w) (DOps.mul hugeT c) in
  (&&) ((&&) (ltb0 DOps.zero c) ((&&) ((=) n0 (length z0)) (fits_gamma n0)))
    ((&&) ((&&) (forallb small row0) (small b))
      ((&&) (ltb0 (DOps.add t e) hugeT)
        (ltb0 (DOps.add t e) (DOps.mul hugeT c))))

(** val combine : bool -> DOps.num list -> dir list -> bool **)

let rec combine up1 row0 ds =
  match row0 with
  | [] -> true
  | w :: row' ->
    (match ds with
     | [] -> true
     | d :: ds' ->
       (&&)
         ((||) (DOps.isz w)
           (if eqb (DOps.leb DOps.zero w) up1 then fst d else snd d))
         (combine up1 row' ds'))

(** val sum_dir : dir list -> DOps.num list -> dir **)

let sum_dir ds row0 =
  ((combine true row0 ds), (combine false row0 ds))

(** val zero_row : (DOps.num list * DOps.num) -> bool **)

let zero_row r =
  (&&) (DOps.isz (snd r)) (forallb DOps.isz (fst r))

(** val outputs_dir : net -> moving list -> dir list option **)

let outputs_dir n0 ms =
  bind (mapo fst ms) (fun ds ->
    let y = map snd ms in
    bind (part_size n0.lower y) (fun l ->
      bind (part_size n0.second y) (fun m ->
        bind (map2o upper_size l m) (fun z0 ->
          let inputs = norm (fold_right DOps.add DOps.zero z0) in
          if (&&)
               ((&&) (forallb zero_row n0.second.sums)
                 (forallb (fun r -> floatb (snd r)) n0.lower.sums))
               (forallb (head_fits z0 inputs) n0.head)
          then let us = map (fun r -> sum_dir ds (fst r)) n0.lower.hidden in
               let ls =
                 map (fun r ->
                   sum_dir (app (if n0.lower.skips then ds else []) us)
                     (fst r)) n0.lower.sums
               in
               Some (map (fun h -> sum_dir ls (fst (fst h))) n0.head)
          else None))))

type goal = { outs : term list; ins : term list; g_equal : bool;
              g_right : DOps.num }

(** val coef : bool -> int -> term list -> DOps.num **)

let rec coef k i = function
| [] -> DOps.zero
| t :: ts' ->
  let (p, j) = t in
  let (c, l) = p in
  if (&&) (eqb k l) ((=) i j) then DOps.add c (coef k i ts') else coef k i ts'

(** val below : int -> term list -> bool **)

let below n0 ts =
  forallb (fun t -> Nat.ltb (snd t) n0) ts

(** val outs_le : bool -> term list -> int -> dir list -> bool **)

let rec outs_le sign ts i = function
| [] -> true
| d :: ds' ->
  let a = coef false i ts in
  (&&) (DOps.isz (DOps.add a (coef true i ts)))
    ((&&)
      ((&&) ((||) (DOps.leb a DOps.zero) (if sign then snd d else fst d))
        ((||) (DOps.leb DOps.zero a) (if sign then fst d else snd d)))
      (outs_le sign ts (Stdlib.Int.succ i) ds'))

(** val no_inputs : int -> term list -> bool **)

let no_inputs m ts =
  (&&) (below m ts)
    (forallb (fun t -> DOps.isz (coef (snd (fst t)) (snd t) ts)) ts)

(** val order_row : int -> dir list -> goal -> bool **)

let order_row m ds g =
  (&&) ((&&) (below (length ds) g.outs) (no_inputs m g.ins))
    ((&&) ((&&) (DOps.leb DOps.zero g.g_right) (outs_le true g.outs 0 ds))
      ((||) (negb g.g_equal)
        ((&&) (DOps.leb g.g_right DOps.zero) (outs_le false g.outs 0 ds))))

(** val check_order : net -> premise -> goal list -> bool list option **)

let check_order n0 p gs =
  bind (ground n0.coords p) (fun ks ->
    bind (inputs_moving n0 ks) (fun ms ->
      bind (outputs_dir n0 ms) (fun ds -> Some
        (map (order_row (length n0.coords) ds) gs))))
