
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

let eqb b3 b4 =
  if b3 then b4 else if b4 then false else true

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

(** val hd : 'a1 -> 'a1 list -> 'a1 **)

let hd default = function
| [] -> default
| x :: _ -> x

(** val tl : 'a1 list -> 'a1 list **)

let tl = function
| [] -> []
| _ :: m -> m

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

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t -> fold_left f t (f a0 b)

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

(** val list_prod : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec list_prod l l' =
  match l with
  | [] -> []
  | x :: t -> app (map (fun y -> (x, y)) l') (list_prod t l')

(** val firstn : int -> 'a1 list -> 'a1 list **)

let rec firstn n0 l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun n1 -> match l with
               | [] -> []
               | a :: l0 -> a :: (firstn n1 l0))
    n0

(** val skipn : int -> 'a1 list -> 'a1 list **)

let rec skipn n0 l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> l)
    (fun n1 -> match l with
               | [] -> []
               | _ :: l0 -> skipn n1 l0)
    n0

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

module Checker =
 functor (O:OPS) ->
 struct
  type vec = O.coq_T list

  (** val hd0 : vec -> O.coq_T **)

  let hd0 = function
  | [] -> O.zero
  | a :: _ -> a

  (** val nth0 : int -> vec -> O.coq_T **)

  let rec nth0 p = function
  | [] -> O.zero
  | a :: w' ->
    ((fun fO fS n -> if n=0 then fO () else fS (n-1))
       (fun _ -> a)
       (fun p' -> nth0 p' w')
       p)

  (** val axpy' : O.coq_T -> vec -> vec -> vec **)

  let rec axpy' t w q =
    match w with
    | [] -> q
    | a :: w' ->
      (match q with
       | [] -> (O.mul t a) :: (axpy' t w' [])
       | b :: q' -> (O.add (O.mul t a) b) :: (axpy' t w' q'))

  (** val axpy : O.coq_T -> vec -> vec -> vec **)

  let axpy t w q =
    if O.isz t then q else axpy' t w q

  (** val times : vec -> vec -> vec **)

  let rec times w v =
    match w with
    | [] -> []
    | a :: w' ->
      (match v with
       | [] -> []
       | b :: v' -> (O.mul a b) :: (times w' v'))

  (** val dotT : vec -> vec -> O.coq_T **)

  let rec dotT w v =
    match w with
    | [] -> O.zero
    | a :: w' ->
      (match v with
       | [] -> O.zero
       | b :: v' -> O.add (O.mul a b) (dotT w' v'))

  (** val maxT : O.coq_T -> O.coq_T -> O.coq_T **)

  let maxT a b =
    if O.leb a b then b else a

  (** val minT : O.coq_T -> O.coq_T -> O.coq_T **)

  let minT a b =
    if O.leb a b then a else b

  (** val maxl : O.coq_T list -> O.coq_T option **)

  let rec maxl = function
  | [] -> None
  | a :: l' -> (match maxl l' with
                | Some b -> Some (maxT a b)
                | None -> Some a)

  (** val minl : O.coq_T list -> O.coq_T option **)

  let rec minl = function
  | [] -> None
  | a :: l' -> (match minl l' with
                | Some b -> Some (minT a b)
                | None -> Some a)

  (** val negT : O.coq_T -> O.coq_T **)

  let negT a =
    O.sub O.zero a

  (** val absT : O.coq_T -> O.coq_T **)

  let absT a =
    if O.leb O.zero a then a else negT a

  type plain = { lo1 : O.coq_T; hi1 : O.coq_T; lo2 : O.coq_T; hi2 : O.coq_T;
                 dlo : O.coq_T; dhi : O.coq_T; whole : bool }

  (** val lo1 : plain -> O.coq_T **)

  let lo1 p =
    p.lo1

  (** val hi1 : plain -> O.coq_T **)

  let hi1 p =
    p.hi1

  (** val lo2 : plain -> O.coq_T **)

  let lo2 p =
    p.lo2

  (** val hi2 : plain -> O.coq_T **)

  let hi2 p =
    p.hi2

  (** val dlo : plain -> O.coq_T **)

  let dlo p =
    p.dlo

  (** val dhi : plain -> O.coq_T **)

  let dhi p =
    p.dhi

  (** val whole : plain -> bool **)

  let whole p =
    p.whole

  type slot =
  | SPlain of plain
  | SGroup of int * int list * int list * (int * int) list

  (** val slot_rect :
      (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
      'a1) -> slot -> 'a1 **)

  let slot_rect f f0 = function
  | SPlain c -> f c
  | SGroup (n0, al1, al2, pairs) -> f0 n0 al1 al2 pairs

  (** val slot_rec :
      (plain -> 'a1) -> (int -> int list -> int list -> (int * int) list ->
      'a1) -> slot -> 'a1 **)

  let slot_rec f f0 = function
  | SPlain c -> f c
  | SGroup (n0, al1, al2, pairs) -> f0 n0 al1 al2 pairs

  (** val lo : bool -> plain -> O.coq_T **)

  let lo side c =
    if side then lo2 c else lo1 c

  (** val hi : bool -> plain -> O.coq_T **)

  let hi side c =
    if side then hi2 c else hi1 c

  (** val span : bool -> slot list -> vec -> (O.coq_T * O.coq_T) option **)

  let rec span side sl w =
    match sl with
    | [] -> Some (O.zero, O.zero)
    | s0 :: s ->
      (match s0 with
       | SPlain c ->
         if O.leb (lo side c) (hi side c)
         then (match span side s (tl w) with
               | Some p ->
                 let (l, h) = p in
                 let a = hd0 w in
                 if O.isz a
                 then Some (l, h)
                 else if O.leb O.zero a
                      then Some ((O.add l (O.mul a (lo side c))),
                             (O.add h (O.mul a (hi side c))))
                      else Some ((O.add l (O.mul a (hi side c))),
                             (O.add h (O.mul a (lo side c))))
               | None -> None)
         else None
       | SGroup (n0, al1, al2, _) ->
         (match span side s (skipn n0 w) with
          | Some p ->
            let (l, h) = p in
            let ws = map (fun p0 -> nth0 p0 w) (if side then al2 else al1) in
            (match minl ws with
             | Some a ->
               (match maxl ws with
                | Some b -> Some ((O.add l a), (O.add h b))
                | None -> None)
             | None -> None)
          | None -> None))

  (** val diff : slot list -> vec -> (O.coq_T * O.coq_T) option **)

  let rec diff sl w =
    match sl with
    | [] -> Some (O.zero, O.zero)
    | s0 :: s ->
      (match s0 with
       | SPlain c ->
         let d = maxT (dlo c) (O.sub (lo1 c) (hi2 c)) in
         let e = minT (dhi c) (O.sub (hi1 c) (lo2 c)) in
         if O.leb d e
         then (match diff s (tl w) with
               | Some p ->
                 let (l, h) = p in
                 let a = hd0 w in
                 if O.isz a
                 then Some (l, h)
                 else if O.leb O.zero a
                      then Some ((O.add l (O.mul a d)), (O.add h (O.mul a e)))
                      else Some ((O.add l (O.mul a e)), (O.add h (O.mul a d)))
               | None -> None)
         else None
       | SGroup (n0, _, _, pairs) ->
         (match diff s (skipn n0 w) with
          | Some p ->
            let (l, h) = p in
            let ws =
              map (fun pr -> O.sub (nth0 (fst pr) w) (nth0 (snd pr) w)) pairs
            in
            (match minl ws with
             | Some a ->
               (match maxl ws with
                | Some b -> Some ((O.add l a), (O.add h b))
                | None -> None)
             | None -> None)
          | None -> None))

  (** val candx :
      O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
      O.coq_T -> O.coq_T list **)

  let candx q3 q4 l3 h3 dl du x =
    let a = maxT l3 (O.sub x du) in
    let b = minT h3 (O.sub x dl) in
    if O.leb a b
    then let v = O.mul q3 x in
         (O.add v (O.mul q4 a)) :: ((O.add v (O.mul q4 b)) :: [])
    else []

  (** val candy :
      O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
      O.coq_T -> O.coq_T list **)

  let candy q3 q4 l3 h3 dl du y =
    let a = maxT l3 (O.add y dl) in
    let b = minT h3 (O.add y du) in
    if O.leb a b
    then let v = O.mul q4 y in
         (O.add (O.mul q3 a) v) :: ((O.add (O.mul q3 b) v) :: [])
    else []

  (** val max2 :
      O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
      O.coq_T -> O.coq_T -> O.coq_T option **)

  let max2 q3 q4 l3 h3 l4 h4 dl du =
    if O.leb l3 h3
    then if O.leb l4 h4
         then maxl
                (app (candx q3 q4 l4 h4 dl du l3)
                  (app (candx q3 q4 l4 h4 dl du h3)
                    (app (candy q3 q4 l3 h3 dl du l4)
                      (candy q3 q4 l3 h3 dl du h4))))
         else None
    else None

  (** val affmax : slot list -> vec -> vec -> O.coq_T option **)

  let rec affmax sl q3 q4 =
    match sl with
    | [] -> Some O.zero
    | s0 :: s ->
      (match s0 with
       | SPlain c ->
         (match max2 (hd0 q3) (hd0 q4) (lo1 c) (hi1 c) (lo2 c) (hi2 c)
                  (dlo c) (dhi c) with
          | Some v ->
            (match affmax s (tl q3) (tl q4) with
             | Some r -> Some (O.add v r)
             | None -> None)
          | None -> None)
       | SGroup (n0, _, _, pairs) ->
         (match maxl
                  (map (fun pr ->
                    O.add (nth0 (fst pr) q3) (nth0 (snd pr) q4)) pairs) with
          | Some v ->
            (match affmax s (skipn n0 q3) (skipn n0 q4) with
             | Some r -> Some (O.add v r)
             | None -> None)
          | None -> None))

  (** val pieces :
      O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
      (O.coq_T * (O.coq_T * O.coq_T)) list **)

  let pieces k t a b =
    if O.leb b O.zero
    then ((negT t), (a, b)) :: []
    else if O.leb O.zero a
         then ((O.sub k t), (a, b)) :: []
         else if O.isz k
              then ((negT t), (a, b)) :: []
              else ((negT t), (a, O.zero)) :: (((O.sub k t), (O.zero,
                     b)) :: [])

  (** val opts : O.coq_T option list -> O.coq_T list **)

  let opts l =
    flat_map (fun o -> match o with
                       | Some v -> v :: []
                       | None -> []) l

  (** val relu2 :
      O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
      O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T option **)

  let relu2 k3 t1 a3 b3 k4 t2 a4 b4 dl du =
    maxl
      (opts
        (flat_map (fun p ->
          map (fun r ->
            max2 (fst p) (fst r) (fst (snd p)) (snd (snd p)) (fst (snd r))
              (snd (snd r)) dl du) (pieces k4 t2 a4 b4)) (pieces k3 t1 a3 b3)))

  type coq_unit = vec * O.coq_T

  type phase = bool * bool

  type phases = (phase * phase) list

  (** val hdp : phases -> phase * phase **)

  let hdp = function
  | [] -> ((false, false), (false, false))
  | p :: _ -> p

  (** val cuta : phase -> O.coq_T -> O.coq_T **)

  let cuta p a =
    if snd p then maxT a O.zero else a

  (** val cutb : phase -> O.coq_T -> O.coq_T **)

  let cutb p b =
    if fst p then minT b O.zero else b

  (** val hidden :
      slot list -> coq_unit list -> phases -> vec -> vec -> vec -> vec ->
      O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec)) option **)

  let rec hidden sl us ph k3 k4 t1 t2 b q3 q4 =
    match us with
    | [] -> Some (b, (q3, q4))
    | u :: us' ->
      let (w, c) = u in
      (match span false sl w with
       | Some p ->
         let (a3, b3) = p in
         (match span true sl w with
          | Some p0 ->
            let (a4, b4) = p0 in
            (match diff sl w with
             | Some p1 ->
               let (dl, du) = p1 in
               let p2 = fst (hdp ph) in
               let r = snd (hdp ph) in
               let s = hd0 t1 in
               let t = hd0 t2 in
               (match relu2 (hd0 k3) s (cuta p2 (O.add a3 c))
                        (cutb p2 (O.add b3 c)) (hd0 k4) t
                        (cuta r (O.add a4 c)) (cutb r (O.add b4 c)) dl du with
                | Some v ->
                  hidden sl us' (tl ph) (tl k3) (tl k4) (tl t1) (tl t2)
                    (O.add b (O.add v (O.mul (O.add s t) c))) (axpy s w q3)
                    (axpy t w q4)
                | None -> None)
             | None -> None)
          | None -> None)
       | None -> None)

  type row = { r1 : vec; r2 : vec; rhs : O.coq_T; eqr : bool }

  (** val r1 : row -> vec **)

  let r1 r =
    r.r1

  (** val r2 : row -> vec **)

  let r2 r =
    r.r2

  (** val rhs : row -> O.coq_T **)

  let rhs r =
    r.rhs

  (** val eqr : row -> bool **)

  let eqr r =
    r.eqr

  (** val extras :
      row list -> vec -> O.coq_T -> vec -> vec -> (O.coq_T * (vec * vec))
      option **)

  let rec extras rows nu b q3 q4 =
    match rows with
    | [] -> Some (b, (q3, q4))
    | r :: rows' ->
      let v = hd0 nu in
      if (||) (eqr r) (O.leb O.zero v)
      then extras rows' (tl nu) (O.add b (O.mul v (rhs r)))
             (axpy (negT v) (r1 r) q3) (axpy (negT v) (r2 r) q4)
      else None

  type psi = { const : O.coq_T; q1 : vec; q2 : vec; k1 : vec; k2 : vec }

  (** val const : psi -> O.coq_T **)

  let const p =
    p.const

  (** val q1 : psi -> vec **)

  let q1 p =
    p.q1

  (** val q2 : psi -> vec **)

  let q2 p =
    p.q2

  (** val k1 : psi -> vec **)

  let k1 p =
    p.k1

  (** val k2 : psi -> vec **)

  let k2 p =
    p.k2

  type res =
  | Rejected
  | Closed
  | Bound of O.coq_T

  (** val res_rect : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1 **)

  let res_rect f f0 f1 = function
  | Rejected -> f
  | Closed -> f0
  | Bound b -> f1 b

  (** val res_rec : 'a1 -> 'a1 -> (O.coq_T -> 'a1) -> res -> 'a1 **)

  let res_rec f f0 f1 = function
  | Rejected -> f
  | Closed -> f0
  | Bound b -> f1 b

  type cell = { slots : slot list; phs : phases }

  (** val slots : cell -> slot list **)

  let slots c =
    c.slots

  (** val phs : cell -> phases **)

  let phs c =
    c.phs

  type lemma = { lj : int; lb1 : O.coq_T; lb2 : O.coq_T; lg1 : vec;
                 lg2 : vec; lth : (O.coq_T * O.coq_T) list }

  (** val lj : lemma -> int **)

  let lj l =
    l.lj

  (** val lb1 : lemma -> O.coq_T **)

  let lb1 l =
    l.lb1

  (** val lb2 : lemma -> O.coq_T **)

  let lb2 l =
    l.lb2

  (** val lg1 : lemma -> vec **)

  let lg1 l =
    l.lg1

  (** val lg2 : lemma -> vec **)

  let lg2 l =
    l.lg2

  (** val lth : lemma -> (O.coq_T * O.coq_T) list **)

  let lth l =
    l.lth

  type known = { kj : int; kb1 : O.coq_T; kb2 : O.coq_T; kg1 : vec;
                 kg2 : vec; kr : O.coq_T }

  (** val kj : known -> int **)

  let kj k =
    k.kj

  (** val kb1 : known -> O.coq_T **)

  let kb1 k =
    k.kb1

  (** val kb2 : known -> O.coq_T **)

  let kb2 k =
    k.kb2

  (** val kg1 : known -> vec **)

  let kg1 k =
    k.kg1

  (** val kg2 : known -> vec **)

  let kg2 k =
    k.kg2

  (** val kr : known -> O.coq_T **)

  let kr k =
    k.kr

  (** val theta : O.coq_T -> O.coq_T -> bool -> O.coq_T **)

  let theta b given0 on_ =
    if O.leb b O.zero
    then maxT b (minT given0 O.zero)
    else if on_ then b else O.zero

  (** val flags : O.coq_T -> bool list **)

  let flags b =
    if O.leb b O.zero then false :: [] else false :: (true :: [])

  (** val given : lemma -> bool -> bool -> O.coq_T * O.coq_T **)

  let given l o1 o2 =
    nth
      (add (if o1 then Stdlib.Int.succ 0 else 0)
        (if o2 then Stdlib.Int.succ (Stdlib.Int.succ 0) else 0)) (lth l)
      (O.zero, O.zero)

  (** val prove1 :
      slot list -> vec -> O.coq_T -> lemma -> bool -> bool -> O.coq_T option **)

  let prove1 sl w c l o1 o2 =
    let s = theta (lb1 l) (fst (given l o1 o2)) o1 in
    let t = theta (lb2 l) (snd (given l o1 o2)) o2 in
    (match affmax sl (axpy s w (axpy (negT O.one) (lg1 l) []))
             (axpy t w (axpy (negT O.one) (lg2 l) [])) with
     | Some v -> Some (O.add v (O.mul (O.add s t) c))
     | None -> None)

  (** val prove : slot list -> coq_unit list -> lemma -> known option **)

  let prove sl us l =
    match nth_error us (lj l) with
    | Some u ->
      let (w, c) = u in
      (match maxl
               (opts
                 (flat_map (fun o1 ->
                   map (prove1 sl w c l o1) (flags (lb2 l))) (flags (lb1 l)))) with
       | Some r ->
         Some { kj = (lj l); kb1 = (lb1 l); kb2 = (lb2 l); kg1 = (lg1 l);
           kg2 = (lg2 l); kr = r }
       | None -> None)
    | None -> None

  (** val proves :
      slot list -> coq_unit list -> lemma list -> known list option **)

  let rec proves sl us = function
  | [] -> Some []
  | l :: ls' ->
    (match prove sl us l with
     | Some k ->
       (match proves sl us ls' with
        | Some ks -> Some (k :: ks)
        | None -> None)
     | None -> None)

  (** val addat : int -> O.coq_T -> vec -> vec **)

  let rec addat j v k =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> (O.add v (hd0 k)) :: (tl k))
      (fun j' -> (hd0 k) :: (addat j' v (tl k)))
      j

  (** val added : known list -> vec -> psi -> psi option **)

  let rec added ks ys f =
    match ks with
    | [] -> Some f
    | k :: ks' ->
      let y = hd0 ys in
      if O.isz y
      then added ks' (tl ys) f
      else if O.leb O.zero y
           then added ks' (tl ys) { const =
                  (O.add (const f) (O.mul y (kr k))); q1 =
                  (axpy y (kg1 k) (q1 f)); q2 = (axpy y (kg2 k) (q2 f)); k1 =
                  (addat (kj k) (negT (O.mul y (kb1 k))) (k1 f)); k2 =
                  (addat (kj k) (negT (O.mul y (kb2 k))) (k2 f)) }
           else None

  (** val leaf :
      coq_unit list -> row list -> known list -> psi -> cell -> vec -> vec ->
      vec -> vec -> res **)

  let leaf us rows ks f0 c t1 t2 nu ys =
    match added ks ys f0 with
    | Some f ->
      (match extras rows nu (const f) (q1 f) (q2 f) with
       | Some p ->
         let (b, p0) = p in
         let (q, r) = p0 in
         (match hidden (slots c) us (phs c) (k1 f) (k2 f) t1 t2 b q r with
          | Some p1 ->
            let (b', p2) = p1 in
            let (q', r') = p2 in
            (match affmax (slots c) q' r' with
             | Some v -> Bound (O.add b' v)
             | None -> Closed)
          | None -> Closed)
       | None -> Rejected)
    | None -> Rejected

  type who =
  | First
  | Second
  | Both

  (** val who_rect : 'a1 -> 'a1 -> 'a1 -> who -> 'a1 **)

  let who_rect f f0 f1 = function
  | First -> f
  | Second -> f0
  | Both -> f1

  (** val who_rec : 'a1 -> 'a1 -> 'a1 -> who -> 'a1 **)

  let who_rec f f0 f1 = function
  | First -> f
  | Second -> f0
  | Both -> f1

  type tree =
  | Leaf of vec * vec * vec * vec
  | Phase of bool * int * tree * tree
  | Input of who * int * O.coq_T * tree * tree
  | Category of who * int * int * tree * tree

  (** val tree_rect :
      (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 ->
      tree -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree ->
      'a1 -> 'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1)
      -> tree -> 'a1 **)

  let rec tree_rect f f0 f1 f2 = function
  | Leaf (t1, t2, nu, ys) -> f t1 t2 nu ys
  | Phase (side, j, below1, above0) ->
    f0 side j below1 (tree_rect f f0 f1 f2 below1) above0
      (tree_rect f f0 f1 f2 above0)
  | Input (w, i, at_, below1, above0) ->
    f1 w i at_ below1 (tree_rect f f0 f1 f2 below1) above0
      (tree_rect f f0 f1 f2 above0)
  | Category (w, i, p, is_, isnot) ->
    f2 w i p is_ (tree_rect f f0 f1 f2 is_) isnot (tree_rect f f0 f1 f2 isnot)

  (** val tree_rec :
      (vec -> vec -> vec -> vec -> 'a1) -> (bool -> int -> tree -> 'a1 ->
      tree -> 'a1 -> 'a1) -> (who -> int -> O.coq_T -> tree -> 'a1 -> tree ->
      'a1 -> 'a1) -> (who -> int -> int -> tree -> 'a1 -> tree -> 'a1 -> 'a1)
      -> tree -> 'a1 **)

  let rec tree_rec f f0 f1 f2 = function
  | Leaf (t1, t2, nu, ys) -> f t1 t2 nu ys
  | Phase (side, j, below1, above0) ->
    f0 side j below1 (tree_rec f f0 f1 f2 below1) above0
      (tree_rec f f0 f1 f2 above0)
  | Input (w, i, at_, below1, above0) ->
    f1 w i at_ below1 (tree_rec f f0 f1 f2 below1) above0
      (tree_rec f f0 f1 f2 above0)
  | Category (w, i, p, is_, isnot) ->
    f2 w i p is_ (tree_rec f f0 f1 f2 is_) isnot (tree_rec f f0 f1 f2 isnot)

  (** val setph : bool -> bool -> int -> phases -> phases **)

  let rec setph side above0 j ph =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ ->
      match ph with
      | [] -> []
      | p0 :: ph' ->
        let (p, r) = p0 in
        let set = fun x -> if above0 then ((fst x), true) else (true, (snd x))
        in
        if side then (p, (set r)) :: ph' else ((set p), r) :: ph')
      (fun j' ->
      match ph with
      | [] -> []
      | x :: ph' -> x :: (setph side above0 j' ph'))
      j

  (** val update : (slot -> slot) -> int -> slot list -> slot list **)

  let rec update f i sl =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> match sl with
                | [] -> []
                | s :: sl' -> (f s) :: sl')
      (fun i' -> match sl with
                 | [] -> []
                 | s :: sl' -> s :: (update f i' sl'))
      i

  (** val pinned : plain -> bool **)

  let pinned c =
    (&&) (O.leb O.zero (dlo c)) (O.leb (dhi c) O.zero)

  (** val below : who -> O.coq_T -> slot -> slot **)

  let below w th s = match s with
  | SPlain c ->
    let t = if whole c then O.floor th else th in
    let h3 = minT (hi1 c) t in
    let h4 = minT (hi2 c) t in
    (match w with
     | First ->
       SPlain { lo1 = (lo1 c); hi1 = h3; lo2 = (lo2 c); hi2 = (hi2 c); dlo =
         (dlo c); dhi = (dhi c); whole = (whole c) }
     | Second ->
       SPlain { lo1 = (lo1 c); hi1 = (hi1 c); lo2 = (lo2 c); hi2 = h4; dlo =
         (dlo c); dhi = (dhi c); whole = (whole c) }
     | Both ->
       if pinned c
       then SPlain { lo1 = (lo1 c); hi1 = h3; lo2 = (lo2 c); hi2 = h4; dlo =
              (dlo c); dhi = (dhi c); whole = (whole c) }
       else s)
  | SGroup (_, _, _, _) -> s

  (** val above : who -> O.coq_T -> slot -> slot **)

  let above w th s = match s with
  | SPlain c ->
    let t = if whole c then O.add (O.floor th) O.one else th in
    let l3 = maxT (lo1 c) t in
    let l4 = maxT (lo2 c) t in
    (match w with
     | First ->
       SPlain { lo1 = l3; hi1 = (hi1 c); lo2 = (lo2 c); hi2 = (hi2 c); dlo =
         (dlo c); dhi = (dhi c); whole = (whole c) }
     | Second ->
       SPlain { lo1 = (lo1 c); hi1 = (hi1 c); lo2 = l4; hi2 = (hi2 c); dlo =
         (dlo c); dhi = (dhi c); whole = (whole c) }
     | Both ->
       if pinned c
       then SPlain { lo1 = l3; hi1 = (hi1 c); lo2 = l4; hi2 = (hi2 c); dlo =
              (dlo c); dhi = (dhi c); whole = (whole c) }
       else s)
  | SGroup (_, _, _, _) -> s

  (** val keep : who -> (int -> bool) -> slot -> slot **)

  let keep w ok s = match s with
  | SPlain _ -> s
  | SGroup (n0, al1, al2, pairs) ->
    (match w with
     | First ->
       SGroup (n0, (filter ok al1), al2,
         (filter (fun pr -> ok (fst pr)) pairs))
     | Second ->
       SGroup (n0, al1, (filter ok al2),
         (filter (fun pr -> ok (snd pr)) pairs))
     | Both ->
       if forallb (fun pr -> (=) (fst pr) (snd pr)) pairs
       then SGroup (n0, (filter ok al1), (filter ok al2),
              (filter (fun pr -> ok (fst pr)) pairs))
       else s)

  (** val on : (slot -> slot) -> int -> cell -> cell **)

  let on f i c =
    { slots = (update f i (slots c)); phs = (phs c) }

  (** val join : res -> res -> res **)

  let join a b =
    match a with
    | Rejected -> Rejected
    | Closed -> (match b with
                 | Rejected -> Rejected
                 | _ -> b)
    | Bound u ->
      (match b with
       | Rejected -> Rejected
       | Closed -> a
       | Bound v -> Bound (maxT u v))

  (** val bound :
      coq_unit list -> row list -> known list -> psi -> cell -> tree -> res **)

  let rec bound us rows ks f c = function
  | Leaf (t1, t2, nu, ys) -> leaf us rows ks f c t1 t2 nu ys
  | Phase (side, j, b, a) ->
    join
      (bound us rows ks f { slots = (slots c); phs =
        (setph side false j (phs c)) } b)
      (bound us rows ks f { slots = (slots c); phs =
        (setph side true j (phs c)) } a)
  | Input (w, i, th, b, a) ->
    join (bound us rows ks f (on (below w th) i c) b)
      (bound us rows ks f (on (above w th) i c) a)
  | Category (w, i, p, b, a) ->
    join (bound us rows ks f (on (keep w ((=) p)) i c) b)
      (bound us rows ks f (on (keep w (fun r -> negb ((=) p r))) i c) a)

  type piece = { pc : O.coq_T; ps : vec; po : vec }

  (** val pc : piece -> O.coq_T **)

  let pc p =
    p.pc

  (** val ps : piece -> vec **)

  let ps p =
    p.ps

  (** val po : piece -> vec **)

  let po p =
    p.po

  type net = { mult : vec; shift : vec; units : coq_unit list;
               lower : piece list; second : piece list; head : coq_unit list }

  (** val mult : net -> vec **)

  let mult n0 =
    n0.mult

  (** val shift : net -> vec **)

  let shift n0 =
    n0.shift

  (** val units : net -> coq_unit list **)

  let units n0 =
    n0.units

  (** val lower : net -> piece list **)

  let lower n0 =
    n0.lower

  (** val second : net -> piece list **)

  let second n0 =
    n0.second

  (** val head : net -> coq_unit list **)

  let head n0 =
    n0.head

  type goal = { a1 : vec; a2 : vec; b1 : vec; b2 : vec; limit : O.coq_T;
                margins : vec }

  (** val a1 : goal -> vec **)

  let a1 g =
    g.a1

  (** val a2 : goal -> vec **)

  let a2 g =
    g.a2

  (** val b1 : goal -> vec **)

  let b1 g =
    g.b1

  (** val b2 : goal -> vec **)

  let b2 g =
    g.b2

  (** val limit : goal -> O.coq_T **)

  let limit g =
    g.limit

  (** val margins : goal -> vec **)

  let margins g =
    g.margins

  (** val raw : net -> coq_unit -> coq_unit **)

  let raw n0 u =
    let w = times (fst u) (mult n0) in
    (w, (O.sub (snd u) (dotT w (shift n0))))

  (** val fold : net -> piece -> piece **)

  let fold n0 p =
    let w = times (ps p) (mult n0) in
    { pc = (O.sub (pc p) (dotT w (shift n0))); ps = w; po = (po p) }

  (** val posT : O.coq_T -> O.coq_T **)

  let posT a =
    if O.leb O.zero a then a else O.zero

  (** val through : vec -> coq_unit list -> vec * O.coq_T **)

  let rec through a = function
  | [] -> ([], O.zero)
  | u :: h' ->
    let (g, g0) = u in
    let (v, c) = through (tl a) h' in
    ((axpy (hd0 a) g v), (O.add (O.mul (hd0 a) g0) c))

  (** val reduce :
      vec -> piece list -> piece list -> (O.coq_T * (vec * vec)) ->
      O.coq_T * (vec * vec) **)

  let rec reduce v l s acc =
    match l with
    | [] -> acc
    | pl :: l' ->
      (match s with
       | [] -> acc
       | pg :: s' ->
         let a = hd0 v in
         let p = posT a in
         let (c, p0) = reduce (tl v) l' s' acc in
         let (q, k) = p0 in
         ((O.add (O.mul a (pc pl)) (O.add (O.mul p (pc pg)) c)),
         ((axpy a (ps pl) (axpy p (ps pg) q)),
         (axpy a (po pl) (axpy p (po pg) k)))))

  (** val reduced : net -> vec -> vec -> O.coq_T * (vec * vec) **)

  let reduced n0 a b =
    let (v, c) = through a (head n0) in
    reduce v (map (fold n0) (lower n0)) (map (fold n0) (second n0)) (c, (b,
      []))

  (** val psi_of : net -> goal -> psi **)

  let psi_of n0 g =
    let (c, p) = reduced n0 (a1 g) (b1 g) in
    let (q, k) = p in
    let (d, p0) = reduced n0 (a2 g) (b2 g) in
    let (r, l) = p0 in { const = (O.add c d); q1 = q; q2 = r; k1 = k; k2 = l }

  (** val dims : slot list -> int **)

  let rec dims = function
  | [] -> 0
  | s0 :: s ->
    (match s0 with
     | SPlain _ -> Stdlib.Int.succ (dims s)
     | SGroup (n0, _, _, _) -> add n0 (dims s))

  (** val fits : net -> slot list -> bool **)

  let fits n0 sl =
    (&&) ((=) (length (mult n0)) (dims sl))
      ((&&) ((=) (length (shift n0)) (dims sl))
        ((=) (length (lower n0)) (length (second n0))))

  (** val nonneg : net -> slot list -> bool -> piece -> bool **)

  let nonneg n0 sl side p =
    let q = fold n0 p in
    (&&) (forallb (O.leb O.zero) (po p))
      (match span side sl (ps q) with
       | Some p0 -> let (l, _) = p0 in O.leb O.zero (O.add (pc q) l)
       | None -> true)

  (** val groups_ok : slot -> bool **)

  let groups_ok = function
  | SPlain _ -> true
  | SGroup (n0, _, _, pairs) ->
    forallb (fun pr -> (&&) (Nat.ltb (fst pr) n0) (Nat.ltb (snd pr) n0)) pairs

  (** val margin : vec -> vec -> O.coq_T **)

  let rec margin a e =
    match a with
    | [] -> O.zero
    | x :: a' ->
      (match e with
       | [] -> O.zero
       | y :: e' -> O.add (O.mul (absT x) y) (margin a' e'))

  (** val root : net -> slot list -> cell **)

  let root n0 sl =
    { slots = sl; phs =
      (map (fun _ -> ((false, false), (false, false))) (units n0)) }

  (** val run :
      net -> slot list -> row list -> goal -> lemma list -> tree -> res **)

  let run n0 sl rows g ls t =
    if (&&) (fits n0 sl) (forallb groups_ok sl)
    then if (&&) (forallb (nonneg n0 sl false) (second n0))
              (forallb (nonneg n0 sl true) (second n0))
         then let us = map (raw n0) (units n0) in
              (match proves sl us ls with
               | Some ks -> bound us rows ks (psi_of n0 g) (root n0 sl) t
               | None -> Rejected)
         else Rejected
    else Rejected

  (** val check :
      net -> slot list -> row list -> goal -> lemma list -> tree -> bool **)

  let check n0 sl rows g ls t =
    match run n0 sl rows g ls t with
    | Bound b ->
      O.leb
        (O.add b
          (O.add (margin (a1 g) (margins g)) (margin (a2 g) (margins g))))
        (limit g)
    | _ -> false
 end

module DChecker = Checker(DOps)

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

(** val maxT0 : num0 -> num0 -> num0 **)

let maxT0 a b =
  if DOps.leb a b then b else a

(** val minT0 : num0 -> num0 -> num0 **)

let minT0 a b =
  if DOps.leb a b then a else b

(** val negT0 : num0 -> num0 **)

let negT0 a =
  DOps.sub DOps.zero a

(** val absT0 : num0 -> num0 **)

let absT0 a =
  if DOps.leb DOps.zero a then a else negT0 a

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
  negT0 (DOps.floor (negT0 a))

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

let settle lo0 hi0 low high up1 down0 =
  let lo3 = norm lo0 in
  let hi3 = norm hi0 in
  let low0 =
    norm
      (if up1
       then DOps.zero
       else maxT0 (minT0 low DOps.zero) (DOps.sub lo3 hi3))
  in
  let high0 =
    norm
      (if down0
       then DOps.zero
       else minT0 (maxT0 high DOps.zero) (DOps.sub hi3 lo3))
  in
  if (&&) ((&&) (ltb0 (negT0 hugeT) lo3) (ltb0 hi3 hugeT))
       ((&&) ((&&) (short lo3) (short hi3)) ((&&) (short low0) (short high0)))
  then Some { s_lo = lo3; s_hi = hi3; s_low = low0; s_high = high0; s_up =
         up1; s_down = down0 }
  else None

(** val size0 : spread -> DOps.num **)

let size0 s =
  maxT0 (negT0 s.s_lo) s.s_hi

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
| y :: ys' -> maxT0 (f y) (max_of f ys')

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
    let d = maxT0 (DOps.sub start0 s.s_lo) (DOps.sub s.s_hi start0) in
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

let rec ext f g row1 ys =
  match row1 with
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

let rec rising up1 down0 row1 ys =
  match row1 with
  | [] -> true
  | w :: row' ->
    (match ys with
     | [] -> true
     | y :: ys' ->
       (&&)
         ((||) (DOps.isz w) (if DOps.leb DOps.zero w then up1 y else down0 y))
         (rising up1 down0 row' ys'))

(** val abs_dot : DOps.num list -> DOps.num list -> DOps.num **)

let rec abs_dot row1 y =
  match row1 with
  | [] -> DOps.zero
  | w :: row' ->
    (match y with
     | [] -> DOps.zero
     | y0 :: y' -> DOps.add (DOps.mul (absT0 w) y0) (abs_dot row' y'))

(** val abs_sum : DOps.num list -> DOps.num **)

let abs_sum row1 =
  fold_right (fun w s -> DOps.add (absT0 w) s) DOps.zero row1

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
| (row1, b) ->
  let n0 = length row1 in
  let total = norm (DOps.add (abs_dot row1 sizes) (absT0 b)) in
  let e = norm (linear_err n0 total (abs_sum row1) inputs) in
  if (&&) ((&&) ((=) n0 (length ys)) (fits_gamma n0))
       (ltb0 (DOps.add total e) hugeT)
  then settle
         (DOps.sub
           (DOps.add (ext (fun s -> s.s_lo) (fun s -> s.s_hi) row1 ys) b) e)
         (DOps.add
           (DOps.add (ext (fun s -> s.s_hi) (fun s -> s.s_lo) row1 ys) b) e)
         (DOps.sub (ext (fun s -> s.s_low) (fun s -> s.s_high) row1 ys)
           (twice e))
         (DOps.add (ext (fun s -> s.s_high) (fun s -> s.s_low) row1 ys)
           (twice e)) (rising (fun s -> s.s_up) (fun s -> s.s_down) row1 ys)
         (rising (fun s -> s.s_down) (fun s -> s.s_up) row1 ys)
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
           (fun _ -> kink_spread minT0 s)
           (fun _ -> kink_spread maxT0 s)
           convex with
   | Some t ->
     (match kinks_spread (pred convex) ys' with
      | Some r -> Some (t :: r)
      | None -> None)
   | None -> None)

(** val blocks : int -> int -> int list list **)

let blocks side block =
  let corners = map (fun i -> mul i block) (seq 0 (Nat.div side block)) in
  flat_map (fun top0 ->
    map (fun left ->
      flat_map (fun r ->
        map (fun c -> add (add (mul (add top0 r) side) left) c) (seq 0 block))
        (seq 0 block)) corners) corners

(** val mean_spread : spread list -> int list -> spread option **)

let mean_spread ys places =
  match mapo (nth_error ys) places with
  | Some part0 ->
    let n0 = length part0 in
    let count0 = fromZ (Z.of_nat n0) in
    let inputs = sum_of size0 part0 in
    let total = div0 inputs count0 in
    let e = norm (linear_err n0 total DOps.one inputs) in
    if (&&) ((&&) (Nat.ltb 0 n0) (fits_gamma n0))
         (ltb0 (DOps.mul (DOps.add total e) count0) hugeT)
    then settle (DOps.sub (div0 (sum_of (fun s -> s.s_lo) part0) count0) e)
           (DOps.add (div0 (sum_of (fun s -> s.s_hi) part0) count0) e)
           (DOps.sub (div0 (sum_of (fun s -> s.s_low) part0) count0)
             (twice e))
           (DOps.add (div0 (sum_of (fun s -> s.s_high) part0) count0)
             (twice e)) (forallb (fun s -> s.s_up) part0)
           (forallb (fun s -> s.s_down) part0)
    else None
  | None -> None

(** val abs_max : DOps.num list -> DOps.num **)

let abs_max row1 =
  fold_right (fun w m -> maxT0 (absT0 w) m) DOps.zero row1

(** val distance_spread :
    spread list -> (DOps.num list * DOps.num) -> spread option **)

let distance_spread ys = function
| (row1, b) ->
  let far0 = DOps.add (abs_max row1) (max_of size0 ys) in
  let most = max_of (fun s -> maxT0 (negT0 s.s_low) s.s_high) ys in
  let e1 = DOps.add (DOps.mul uT far0) etaT in
  let e =
    norm
      (DOps.add e1
        (DOps.add (DOps.mul uT (DOps.add (DOps.add far0 e1) (absT0 b))) etaT))
  in
  let all = forallb same ys in
  if (=) (length row1) (length ys)
  then settle (DOps.sub b e) (DOps.add (DOps.add far0 b) e)
         (negT0 (DOps.add most (twice e))) (DOps.add most (twice e)) all all
  else None

type tree0 =
| Tip of DOps.num
| Ask of int * DOps.num * tree0 * tree0

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
       Some { s_lo = (extreme maxT0 (fun s0 -> s0.s_lo) s l); s_hi =
         (extreme maxT0 (fun s0 -> s0.s_hi) s l); s_low =
         (extreme minT0 (fun s0 -> s0.s_low) s l); s_high =
         (extreme maxT0 (fun s0 -> s0.s_high) s l); s_up = false; s_down =
         false })
  | None -> None

type four = { f_lo : DOps.num; f_hi : DOps.num; f_low : DOps.num;
              f_high : DOps.num }

(** val joined : four -> four -> bool -> bool -> four **)

let joined l r on0 back =
  let low = minT0 l.f_low r.f_low in
  let high = maxT0 l.f_high r.f_high in
  let low' = if on0 then minT0 low (DOps.sub r.f_lo l.f_hi) else low in
  let high' = if on0 then maxT0 high (DOps.sub r.f_hi l.f_lo) else high in
  { f_lo = (minT0 l.f_lo r.f_lo); f_hi = (maxT0 l.f_hi r.f_hi); f_low =
  (if back then minT0 low' (DOps.sub l.f_lo r.f_hi) else low'); f_high =
  (if back then maxT0 high' (DOps.sub l.f_hi r.f_lo) else high') }

(** val tree_four : spread list -> tree0 -> four option **)

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

type piece0 = { p_ask : int; p_low : DOps.num; p_high : DOps.num;
                p_above : DOps.num option; p_upto : DOps.num option }

(** val sooner : DOps.num option -> DOps.num -> DOps.num option **)

let sooner o v =
  Some (match o with
        | Some w -> minT0 w v
        | None -> v)

(** val later : DOps.num option -> DOps.num -> DOps.num option **)

let later o v =
  Some (match o with
        | Some w -> maxT0 w v
        | None -> v)

(** val cut_piece : bool -> DOps.num -> piece0 -> piece0 **)

let cut_piece left th p =
  if left
  then { p_ask = p.p_ask; p_low = p.p_low; p_high = p.p_high; p_above =
         p.p_above; p_upto = (sooner p.p_upto th) }
  else { p_ask = p.p_ask; p_low = p.p_low; p_high = p.p_high; p_above =
         (later p.p_above th); p_upto = p.p_upto }

(** val narrow :
    spread -> int -> bool -> DOps.num -> piece0 list -> piece0 list **)

let rec narrow s q left th = function
| [] ->
  (cut_piece left th { p_ask = q; p_low = s.s_low; p_high = s.s_high;
    p_above = None; p_upto = None }) :: []
| p :: path' ->
  if (=) p.p_ask q
  then (cut_piece left th p) :: path'
  else p :: (narrow s q left th path')

(** val open_leaves :
    spread list -> tree0 -> piece0 list -> (DOps.num * piece0 list) list **)

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

(** val apart : piece0 -> piece0 -> bool **)

let apart second1 first =
  (||)
    (match second1.p_above with
     | Some a ->
       (match first.p_upto with
        | Some b -> DOps.leb (DOps.sub b a) second1.p_low
        | None -> false)
     | None -> false)
    (match second1.p_upto with
     | Some b ->
       (match first.p_above with
        | Some a -> DOps.leb second1.p_high (DOps.sub a b)
        | None -> false)
     | None -> false)

(** val a_pair : piece0 list -> piece0 list -> bool **)

let a_pair second1 first =
  forallb (fun s ->
    forallb (fun f -> negb ((&&) ((=) s.p_ask f.p_ask) (apart s f))) first)
    second1

(** val compared :
    (DOps.num * piece0 list) -> (DOps.num * piece0 list) ->
    (DOps.num * DOps.num) -> DOps.num * DOps.num **)

let compared second1 first r =
  let d = DOps.sub (fst first) (fst second1) in
  if (&&) ((||) (ltb0 d (fst r)) (ltb0 (snd r) d))
       (a_pair (snd second1) (snd first))
  then ((minT0 (fst r) d), (maxT0 (snd r) d))
  else r

(** val against :
    (DOps.num * piece0 list) -> (DOps.num * piece0 list) list ->
    (DOps.num * DOps.num) -> DOps.num * DOps.num **)

let rec against second1 firsts r =
  match firsts with
  | [] -> r
  | f :: l -> against second1 l (compared second1 f r)

(** val by_pairs :
    (DOps.num * piece0 list) list -> (DOps.num * piece0 list) list ->
    (DOps.num * DOps.num) -> DOps.num * DOps.num **)

let rec by_pairs seconds firsts r =
  match seconds with
  | [] -> r
  | s :: l -> by_pairs l firsts (against s firsts r)

(** val leaves : tree0 -> Big.t **)

let rec leaves = function
| Tip _ -> Big.one
| Ask (_, _, l, r) -> Z.add (leaves l) (leaves r)

(** val tree_spread : spread list -> tree0 -> spread option **)

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
    if (&&) (ltb0 (negT0 hugeT) f.f_lo) (ltb0 f.f_hi hugeT)
    then Some { s_lo = f.f_lo; s_hi = f.f_hi; s_low = low; s_high = high;
           s_up = (DOps.leb DOps.zero low); s_down =
           (DOps.leb high DOps.zero) }
    else None
  | None -> None

(** val sum_spread :
    spread list -> (DOps.num * tree0 list) -> spread option **)

let sum_spread asks o =
  match mapo (tree_spread asks) (snd o) with
  | Some ts ->
    row_spread ts (map size0 ts) (norm (sum_of size0 ts))
      ((repeat DOps.one (length ts)), (fst o))
  | None -> None

(** val trees_spread :
    int list list -> (DOps.num * tree0 list) list -> spread list -> spread
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
| Trees of int list list * (DOps.num * tree0 list) list

(** val layer_spread :
    layer -> spread list -> spread list -> spread list option **)

let layer_spread l ys base0 =
  match l with
  | Ramps cells -> mapo (ramp_spread ys) cells
  | Linear (b, rows) -> rows_spread (if b then app ys base0 else ys) rows
  | Kinks c -> kinks_spread c ys
  | Pool (side, block) -> mapo (mean_spread ys) (blocks side block)
  | Distance rows -> mapo (distance_spread ys) rows
  | Trees (sets, outs0) -> trees_spread sets outs0 ys

(** val layers_spread :
    layer list -> spread list -> spread list option -> spread list option **)

let rec layers_spread ls ys base0 =
  match ls with
  | [] -> Some ys
  | l :: ls' ->
    (match layer_spread l ys (match base0 with
                              | Some b -> b
                              | None -> []) with
     | Some zs ->
       layers_spread ls' zs
         (match base0 with
          | Some b -> Some b
          | None -> Some zs)
     | None -> None)

type coord = { c_lo : DOps.num; c_hi : DOps.num; c_shift : DOps.num;
               c_mult : DOps.num; c_whole : bool; c_group : bool;
               c_feature : int }

type term = (DOps.num * bool) * int

type row0 = { terms : term list; equal : bool; right : DOps.num }

type premise = { when0 : row0 list; others : bool; equals : int list;
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

type cell0 = { l1 : DOps.num; h1 : DOps.num; l2 : DOps.num; h2 : DOps.num;
               d_lo : DOps.num option; d_hi : DOps.num option }

(** val omax : DOps.num option -> DOps.num -> DOps.num option **)

let omax o v =
  Some (match o with
        | Some w -> maxT0 w v
        | None -> v)

(** val omin : DOps.num option -> DOps.num -> DOps.num option **)

let omin o v =
  Some (match o with
        | Some w -> minT0 w v
        | None -> v)

(** val bounded : bool -> DOps.num -> DOps.num -> bool -> cell0 -> cell0 **)

let bounded k a right0 same0 c =
  let q = norm (div0 right0 a) in
  let low = (||) same0 (DOps.leb a DOps.zero) in
  let high = (||) same0 (DOps.leb DOps.zero a) in
  if k
  then { l1 = c.l1; h1 = c.h1; l2 = (if low then maxT0 c.l2 q else c.l2);
         h2 = (if high then minT0 c.h2 q else c.h2); d_lo = c.d_lo; d_hi =
         c.d_hi }
  else { l1 = (if low then maxT0 c.l1 q else c.l1); h1 =
         (if high then minT0 c.h1 q else c.h1); l2 = c.l2; h2 = c.h2; d_lo =
         c.d_lo; d_hi = c.d_hi }

(** val stripped : DOps.num -> DOps.num -> bool -> cell0 -> cell0 **)

let stripped a right0 same0 c =
  let q = norm (div0 right0 a) in
  { l1 = c.l1; h1 = c.h1; l2 = c.l2; h2 = c.h2; d_lo =
  (if (||) same0 (DOps.leb a DOps.zero) then omax c.d_lo q else c.d_lo);
  d_hi =
  (if (||) same0 (DOps.leb DOps.zero a) then omin c.d_hi q else c.d_hi) }

(** val update0 : int -> (cell0 -> cell0) -> cell0 list -> cell0 list **)

let rec update0 i f = function
| [] -> []
| c :: l' ->
  ((fun fO fS n -> if n=0 then fO () else fS (n-1))
     (fun _ -> (f c) :: l')
     (fun i' -> c :: (update0 i' f l'))
     i)

(** val apply : row0 -> cell0 list -> cell0 list option **)

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
     | [] -> Some (update0 i (bounded k a r.right r.equal) cells)
     | t0 :: l3 ->
       let (p0, j) = t0 in
       let (b, l) = p0 in
       (match l3 with
        | [] ->
          if (&&) ((=) i j) ((&&) (negb (eqb k l)) (DOps.isz (DOps.add a b)))
          then Some
                 (update0 i (stripped (if k then b else a) r.right r.equal)
                   cells)
          else Some cells
        | _ :: _ -> Some cells))

(** val apply_all : row0 list -> cell0 list -> cell0 list option **)

let rec apply_all rs cells =
  match rs with
  | [] -> Some cells
  | r :: rs' ->
    (match apply r cells with
     | Some c -> apply_all rs' c
     | None -> None)

type known0 = { k_l1 : DOps.num; k_h1 : DOps.num; k_l2 : DOps.num;
                k_h2 : DOps.num; k_low : DOps.num; k_high : DOps.num;
                k_pinned : bool }

(** val up0 : bool -> DOps.num -> DOps.num **)

let up0 w v =
  if w then ceil v else v

(** val down : bool -> DOps.num -> DOps.num **)

let down w v =
  if w then DOps.floor v else v

(** val finish1 : bool -> coord -> cell0 -> known0 **)

let finish1 pin c k =
  let a = option_map (up0 c.c_whole) k.d_lo in
  let b = option_map (down c.c_whole) k.d_hi in
  let pinned1 =
    (||) pin
      (match a with
       | Some v ->
         (match b with
          | Some w -> (&&) (eqb0 v DOps.zero) (eqb0 w DOps.zero)
          | None -> false)
       | None -> false)
  in
  let low1 = if pinned1 then maxT0 k.l1 k.l2 else k.l1 in
  let low2 = if pinned1 then maxT0 k.l1 k.l2 else k.l2 in
  let high1 = if pinned1 then minT0 k.h1 k.h2 else k.h1 in
  let high2 = if pinned1 then minT0 k.h1 k.h2 else k.h2 in
  let r = up0 c.c_whole in
  let s = down c.c_whole in
  let least = DOps.sub (r low1) (s high2) in
  let most = DOps.sub (s high1) (r low2) in
  { k_l1 = (r low1); k_h1 = (s high1); k_l2 = (r low2); k_h2 = (s high2);
  k_low =
  (if pinned1
   then DOps.zero
   else (match a with
         | Some v -> maxT0 least v
         | None -> least)); k_high =
  (if pinned1
   then DOps.zero
   else (match b with
         | Some v -> minT0 most v
         | None -> most)); k_pinned = pinned1 }

(** val pin_stated : premise -> int list -> int -> coord -> bool **)

let pin_stated p names i c =
  (||) (existsb ((=) i) p.equals)
    ((&&) p.others (negb (existsb ((=) c.c_feature) names)))

(** val finish :
    premise -> int list -> int -> coord list -> cell0 list -> known0 list **)

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

(** val start : coord -> cell0 **)

let start c =
  { l1 = c.c_lo; h1 = c.c_hi; l2 = c.c_lo; h2 = c.c_hi; d_lo = None; d_hi =
    None }

(** val ground : coord list -> premise -> known0 list option **)

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

(** val row_ok : DOps.num list -> DOps.num list -> row0 -> bool **)

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

(** val bind : 'a1 option -> ('a1 -> 'a2 option) -> 'a2 option **)

let bind o f =
  match o with
  | Some a -> f a
  | None -> None

(** val passes : branch -> bool **)

let passes b =
  match b.steps with
  | [] -> (match b.pinned0 with
           | Some _ -> false
           | None -> true)
  | _ :: _ -> false

(** val far : coord -> DOps.num **)

let far c =
  maxT0 (DOps.sub c.c_shift c.c_lo) (DOps.sub c.c_hi c.c_shift)

(** val plain0 : coord -> bool **)

let plain0 c =
  (&&) (DOps.isz c.c_shift) (eqb0 c.c_mult DOps.one)

(** val error : coord -> DOps.num **)

let error c =
  if plain0 c then DOps.zero else scale_err (far c) c.c_mult

(** val scales : coord -> bool **)

let scales c =
  (&&) ((&&) (ltb0 DOps.zero c.c_mult) (DOps.leb c.c_mult topT))
    ((&&) (ltb0 (far c) hugeT) (ltb0 (DOps.mul (far c) c.c_mult) hugeT))

(** val input_size : coord -> DOps.num **)

let input_size c =
  DOps.add (DOps.mul (far c) c.c_mult) (error c)

type dir = bool * bool

(** val move : bool -> bool -> DOps.num -> DOps.num -> dir option **)

let move pinned1 group low high =
  if pinned1
  then Some (true, true)
  else if group
       then None
       else if DOps.leb high DOps.zero
            then Some (false, true)
            else if DOps.leb DOps.zero low then Some (true, false) else None

(** val raw_spread : coord -> known0 -> spread option **)

let raw_spread c k =
  let low = DOps.leb DOps.zero k.k_low in
  let high = DOps.leb k.k_high DOps.zero in
  let up1 = (||) k.k_pinned ((&&) (negb c.c_group) low) in
  let down0 = (||) k.k_pinned ((&&) (negb c.c_group) high) in
  let e = error c in
  let at_ = fun v -> DOps.mul c.c_mult (DOps.sub v c.c_shift) in
  settle (DOps.sub (at_ (minT0 k.k_l1 k.k_l2)) e)
    (DOps.add (at_ (maxT0 k.k_h1 k.k_h2)) e)
    (DOps.sub (DOps.mul c.c_mult k.k_low) (twice e))
    (DOps.add (DOps.mul c.c_mult k.k_high) (twice e)) up1 down0

type moving = dir option * DOps.num

(** val pass_moving : coord -> known0 -> moving **)

let pass_moving c k =
  ((move k.k_pinned c.c_group k.k_low k.k_high), (input_size c))

(** val cut_moving : (DOps.num * DOps.num) -> spread -> moving option **)

let cut_moving b s =
  let (l, h) = b in
  if (&&) (DOps.leb l h) ((&&) (ltb0 (negT0 hugeT) l) (ltb0 h hugeT))
  then (match settle (maxT0 l (minT0 s.s_lo h)) (maxT0 l (minT0 s.s_hi h))
                s.s_low s.s_high s.s_up s.s_down with
        | Some t ->
          Some ((move (same t) false t.s_low t.s_high), (maxT0 (negT0 l) h))
        | None -> None)
  else None

(** val pinned_moving : bool -> (DOps.num * DOps.num) -> moving option **)

let pinned_moving all = function
| (l, h) ->
  if (&&) (DOps.leb l h) ((&&) (ltb0 (negT0 hugeT) l) (ltb0 h hugeT))
  then (match settle l h (DOps.sub l h) (DOps.sub h l) all all with
        | Some t ->
          Some ((move (same t) false t.s_low t.s_high), (maxT0 (negT0 l) h))
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
    coord list -> known0 list -> branch -> moving list option **)

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
           match b.pinned0 with
           | Some j ->
             if (=) j (length b.box)
             then mapo (pinned_moving (forallb same zs)) b.box
             else None
           | None -> map2o cut_moving b.box zs))

(** val encoder_moving :
    coord list -> known0 list -> branch list -> moving list option **)

let rec encoder_moving cs ks = function
| [] -> Some []
| b :: bs' ->
  bind (branch_moving cs ks b) (fun y ->
    bind (encoder_moving cs ks bs') (fun r -> Some (app y r)))

(** val pass_all : coord list -> known0 list -> moving list **)

let rec pass_all cs ks =
  match cs with
  | [] -> []
  | c :: cs' ->
    (match ks with
     | [] -> []
     | k :: ks' -> (pass_moving c k) :: (pass_all cs' ks'))

(** val inputs_moving : net0 -> known0 list -> moving list option **)

let inputs_moving n0 ks =
  if forallb scales n0.coords
  then (match n0.encoder with
        | Some bs -> encoder_moving n0.coords ks bs
        | None -> Some (pass_all n0.coords ks))
  else None

(** val row_size :
    DOps.num list -> DOps.num -> (DOps.num list * DOps.num) -> DOps.num option **)

let row_size y inputs = function
| (row1, b) ->
  let n0 = length row1 in
  let t = norm (DOps.add (abs_dot row1 y) (absT0 b)) in
  let e = linear_err n0 t (abs_sum row1) inputs in
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
  bind (rows_size y p.hidden0) (fun t ->
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
  let (row1, b) = p in
  let n0 = length row1 in
  let g = gammaT n0 in
  let t = norm (DOps.add (abs_dot row1 z0) (absT0 b)) in
  let e =
    DOps.add (DOps.mul g t)
      (DOps.mul
        (DOps.mul (DOps.add DOps.one g) (DOps.mul etaT (maxT0 DOps.one c)))
        (DOps.add
          (DOps.add
            (fromZ
              (Z.add
                (Z.mul ((fun x -> Big.succ (Big.shift_left x 1)) Big.one)
                  (Z.of_nat n0)) ((fun x -> Big.succ (Big.shift_left x 1))
                Big.one))) (abs_sum row1)) inputs))
  in
  let small = fun w -> ltb0 (absT0 w) (DOps.mul hugeT c) in
  (&&) ((&&) (ltb0 DOps.zero c) ((&&) ((=) n0 (length z0)) (fits_gamma n0)))
    ((&&) ((&&) (forallb small row1) (small b))
      ((&&) (ltb0 (DOps.add t e) hugeT)
        (ltb0 (DOps.add t e) (DOps.mul hugeT c))))

(** val combine : bool -> DOps.num list -> dir list -> bool **)

let rec combine up1 row1 ds =
  match row1 with
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

let sum_dir ds row1 =
  ((combine true row1 ds), (combine false row1 ds))

(** val zero_row : (DOps.num list * DOps.num) -> bool **)

let zero_row r =
  (&&) (DOps.isz (snd r)) (forallb DOps.isz (fst r))

(** val outputs_dir : net0 -> moving list -> dir list option **)

let outputs_dir n0 ms =
  bind
    (match n0.kind with
     | Gap -> if n0.ends then None else mapo fst ms
     | Paper -> None) (fun ds ->
    let y = map snd ms in
    bind (part_size n0.lower0 y) (fun l ->
      bind (part_size n0.second0 y) (fun m ->
        bind (map2o upper_size l m) (fun z0 ->
          let inputs = norm (fold_right DOps.add DOps.zero z0) in
          if (&&)
               ((&&) (forallb zero_row n0.second0.sums)
                 (forallb (fun r -> floatb (snd r)) n0.lower0.sums))
               (forallb (head_fits z0 inputs) n0.head0)
          then let us = map (fun r -> sum_dir ds (fst r)) n0.lower0.hidden0 in
               let ls =
                 map (fun r ->
                   sum_dir (app (if n0.lower0.skips then ds else []) us)
                     (fst r)) n0.lower0.sums
               in
               Some (map (fun h -> sum_dir ls (fst (fst h))) n0.head0)
          else None))))

type goal0 = { outs : term list; ins : term list; g_equal : bool;
               g_right : DOps.num }

(** val coef : bool -> int -> term list -> DOps.num **)

let rec coef k i = function
| [] -> DOps.zero
| t :: ts' ->
  let (p, j) = t in
  let (c, l) = p in
  if (&&) (eqb k l) ((=) i j) then DOps.add c (coef k i ts') else coef k i ts'

(** val below0 : int -> term list -> bool **)

let below0 n0 ts =
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
  (&&) (below0 m ts)
    (forallb (fun t -> DOps.isz (coef (snd (fst t)) (snd t) ts)) ts)

(** val order_row : int -> dir list -> goal0 -> bool **)

let order_row m ds g =
  (&&) ((&&) (below0 (length ds) g.outs) (no_inputs m g.ins))
    ((&&) ((&&) (DOps.leb DOps.zero g.g_right) (outs_le true g.outs 0 ds))
      ((||) (negb g.g_equal)
        ((&&) (DOps.leb g.g_right DOps.zero) (outs_le false g.outs 0 ds))))

(** val check_order : net0 -> premise -> goal0 list -> bool list option **)

let check_order n0 p gs =
  bind (ground n0.coords p) (fun ks ->
    bind (inputs_moving n0 ks) (fun ms ->
      bind (outputs_dir n0 ms) (fun ds -> Some
        (map (order_row (length n0.coords) ds) gs))))

module PaperChecker =
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
 struct
  (** val dspan :
      bool -> C.slot list -> C.coq_unit list -> C.phases -> C.vec -> O.coq_T
      -> C.vec -> O.coq_T -> O.coq_T -> (O.coq_T * O.coq_T) option **)

  let rec dspan side sl us ph o c q l h =
    match us with
    | [] ->
      (match C.span side sl q with
       | Some p ->
         let (a, b) = p in Some ((O.add c (O.add l a)), (O.add c (O.add h b)))
       | None -> None)
    | u :: us' ->
      let (w, e) = u in
      (match C.span side sl w with
       | Some p ->
         let (a0, b0) = p in
         let p0 = if side then snd (C.hdp ph) else fst (C.hdp ph) in
         let a = C.cuta p0 (O.add a0 e) in
         let b = C.cutb p0 (O.add b0 e) in
         let t = C.hd0 o in
         if (||) (O.isz t) (O.leb b O.zero)
         then dspan side sl us' (tl ph) (tl o) c q l h
         else if O.leb O.zero a
              then dspan side sl us' (tl ph) (tl o) (O.add c (O.mul t e))
                     (C.axpy t w q) l h
              else dspan side sl us' (tl ph) (tl o) c q
                     (O.add l (C.minT O.zero (O.mul t b)))
                     (O.add h (C.maxT O.zero (O.mul t b)))
       | None -> None)

  (** val best :
      O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T option **)

  let best p t a b =
    C.maxl
      (flat_map (fun x ->
        let (c, y) = x in let (l, h) = y in (O.mul c l) :: ((O.mul c h) :: []))
        (C.pieces p t a b))

  (** val flip1 :
      bool -> C.slot list -> C.coq_unit list -> C.phases -> C.phases ->
      C.piece -> O.coq_T -> O.coq_T -> O.coq_T option **)

  let flip1 side sl us ph fp d p t =
    match dspan side sl us ph (C.po d) (C.pc d) (C.ps d) O.zero O.zero with
    | Some p0 ->
      let (a, b) = p0 in
      let f = if side then snd (C.hdp fp) else fst (C.hdp fp) in
      let a' = C.cuta f a in
      let b' = C.cutb f b in if O.leb a' b' then best p t a' b' else None
    | None -> None

  (** val flat :
      C.slot list -> C.coq_unit list -> C.phases -> C.phases -> C.piece list
      -> C.vec -> C.vec -> C.vec -> C.vec -> C.psi -> C.psi option **)

  let rec flat sl us ph fp ds p1 p2 t1 t2 f =
    match ds with
    | [] -> Some f
    | d :: ds' ->
      let s = C.hd0 t1 in
      let t = C.hd0 t2 in
      (match flip1 false sl us ph fp d (C.hd0 p1) s with
       | Some u ->
         (match flip1 true sl us ph fp d (C.hd0 p2) t with
          | Some v ->
            flat sl us ph (tl fp) ds' (tl p1) (tl p2) (tl t1) (tl t2)
              { C.const =
              (O.add (C.const f)
                (O.add (O.add u v) (O.mul (O.add s t) (C.pc d)))); C.q1 =
              (C.axpy s (C.ps d) (C.q1 f)); C.q2 =
              (C.axpy t (C.ps d) (C.q2 f)); C.k1 =
              (C.axpy s (C.po d) (C.k1 f)); C.k2 =
              (C.axpy t (C.po d) (C.k2 f)) }
          | None -> None)
       | None -> None)

  type pcell = { base : C.cell; fphs : C.phases }

  (** val base : pcell -> C.cell **)

  let base p =
    p.base

  (** val fphs : pcell -> C.phases **)

  let fphs p =
    p.fphs

  type ptree =
  | PLeaf of C.vec * C.vec * C.vec * C.vec * C.vec * C.vec
  | PPhase of bool * int * ptree * ptree
  | PFlip of bool * int * ptree * ptree
  | PInput of C.who * int * O.coq_T * ptree * ptree
  | PCategory of C.who * int * int * ptree * ptree

  (** val ptree_rect :
      (C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> 'a1) -> (bool ->
      int -> ptree -> 'a1 -> ptree -> 'a1 -> 'a1) -> (bool -> int -> ptree ->
      'a1 -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> O.coq_T -> ptree -> 'a1
      -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> int -> ptree -> 'a1 ->
      ptree -> 'a1 -> 'a1) -> ptree -> 'a1 **)

  let rec ptree_rect f f0 f1 f2 f3 = function
  | PLeaf (s1, s2, t1, t2, nu, ys) -> f s1 s2 t1 t2 nu ys
  | PPhase (side, j, b, a) ->
    f0 side j b (ptree_rect f f0 f1 f2 f3 b) a (ptree_rect f f0 f1 f2 f3 a)
  | PFlip (side, i, b, a) ->
    f1 side i b (ptree_rect f f0 f1 f2 f3 b) a (ptree_rect f f0 f1 f2 f3 a)
  | PInput (w, i, at_, b, a) ->
    f2 w i at_ b (ptree_rect f f0 f1 f2 f3 b) a (ptree_rect f f0 f1 f2 f3 a)
  | PCategory (w, i, p0, b, a) ->
    f3 w i p0 b (ptree_rect f f0 f1 f2 f3 b) a (ptree_rect f f0 f1 f2 f3 a)

  (** val ptree_rec :
      (C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> C.vec -> 'a1) -> (bool ->
      int -> ptree -> 'a1 -> ptree -> 'a1 -> 'a1) -> (bool -> int -> ptree ->
      'a1 -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> O.coq_T -> ptree -> 'a1
      -> ptree -> 'a1 -> 'a1) -> (C.who -> int -> int -> ptree -> 'a1 ->
      ptree -> 'a1 -> 'a1) -> ptree -> 'a1 **)

  let rec ptree_rec f f0 f1 f2 f3 = function
  | PLeaf (s1, s2, t1, t2, nu, ys) -> f s1 s2 t1 t2 nu ys
  | PPhase (side, j, b, a) ->
    f0 side j b (ptree_rec f f0 f1 f2 f3 b) a (ptree_rec f f0 f1 f2 f3 a)
  | PFlip (side, i, b, a) ->
    f1 side i b (ptree_rec f f0 f1 f2 f3 b) a (ptree_rec f f0 f1 f2 f3 a)
  | PInput (w, i, at_, b, a) ->
    f2 w i at_ b (ptree_rec f f0 f1 f2 f3 b) a (ptree_rec f f0 f1 f2 f3 a)
  | PCategory (w, i, p0, b, a) ->
    f3 w i p0 b (ptree_rec f f0 f1 f2 f3 b) a (ptree_rec f f0 f1 f2 f3 a)

  (** val pbound :
      C.coq_unit list -> C.row list -> C.known list -> C.piece list -> C.vec
      -> C.vec -> C.psi -> pcell -> ptree -> C.res **)

  let rec pbound us rows ks ds p1 p2 f c t =
    let go = fun c' t' -> pbound us rows ks ds p1 p2 f c' t' in
    (match t with
     | PLeaf (s1, s2, t1, t2, nu, ys) ->
       (match flat (C.slots (base c)) us (C.phs (base c)) (fphs c) ds p1 p2
                s1 s2 f with
        | Some g -> C.leaf us rows ks g (base c) t1 t2 nu ys
        | None ->
          (match C.added ks ys f with
           | Some _ ->
             (match C.extras rows nu (C.const f) (C.q1 f) (C.q2 f) with
              | Some _ -> C.Closed
              | None -> C.Rejected)
           | None -> C.Rejected))
     | PPhase (side, j, b, a) ->
       let at_ = fun up1 -> { base = { C.slots = (C.slots (base c)); C.phs =
         (C.setph side up1 j (C.phs (base c))) }; fphs = (fphs c) }
       in
       C.join (go (at_ false) b) (go (at_ true) a)
     | PFlip (side, i, b, a) ->
       C.join
         (go { base = (base c); fphs = (C.setph side false i (fphs c)) } b)
         (go { base = (base c); fphs = (C.setph side true i (fphs c)) } a)
     | PInput (w, i, th, b, a) ->
       C.join
         (go { base = (C.on (C.below w th) i (base c)); fphs = (fphs c) } b)
         (go { base = (C.on (C.above w th) i (base c)); fphs = (fphs c) } a)
     | PCategory (w, i, p, b, a) ->
       C.join
         (go { base = (C.on (C.keep w ((=) p)) i (base c)); fphs = (fphs c) }
           b)
         (go { base = (C.on (C.keep w (fun r -> negb ((=) p r))) i (base c));
           fphs = (fphs c) } a))

  (** val preduce :
      C.vec -> C.piece list -> (O.coq_T * (C.vec * C.vec)) ->
      O.coq_T * (C.vec * C.vec) **)

  let rec preduce v l acc =
    match l with
    | [] -> acc
    | p :: l' ->
      let a = C.hd0 v in
      let (c, p0) = preduce (tl v) l' acc in
      let (q, k) = p0 in
      ((O.add (O.mul a (C.pc p)) c), ((C.axpy a (C.ps p) q),
      (C.axpy a (C.po p) k)))

  (** val minus : C.piece -> C.piece -> C.piece **)

  let minus s l =
    let m = C.negT O.one in
    { C.pc = (O.sub (C.pc s) (C.pc l)); C.ps = (C.axpy m (C.ps l) (C.ps s));
    C.po = (C.axpy m (C.po l) (C.po s)) }

  (** val flips : C.piece list -> C.piece list -> C.piece list **)

  let rec flips s l =
    match s with
    | [] -> []
    | a :: s' ->
      (match l with
       | [] -> []
       | b :: l' -> (minus a b) :: (flips s' l'))

  (** val preduced :
      C.net -> C.vec -> C.vec -> (O.coq_T * (C.vec * C.vec)) * C.vec **)

  let preduced n0 a b =
    let (v, c) = C.through a (C.head n0) in
    ((preduce v (map (C.fold n0) (C.lower n0)) (c, (b, []))), (map C.posT v))

  (** val ppsi : C.net -> C.goal -> C.psi * (C.vec * C.vec) **)

  let ppsi n0 g =
    let (p0, p) = preduced n0 (C.a1 g) (C.b1 g) in
    let (c, p1) = p0 in
    let (q, k) = p1 in
    let (p2, o) = preduced n0 (C.a2 g) (C.b2 g) in
    let (d, p3) = p2 in
    let (r, l) = p3 in
    ({ C.const = (O.add c d); C.q1 = q; C.q2 = r; C.k1 = k; C.k2 = l }, (p,
    o))

  (** val prun :
      C.net -> C.slot list -> C.row list -> C.goal -> C.lemma list -> ptree
      -> C.res **)

  let prun n0 sl rows g ls t =
    if C.fits n0 sl
    then let us = map (C.raw n0) (C.units n0) in
         let (f, p0) = ppsi n0 g in
         let (p, o) = p0 in
         (match C.proves sl us ls with
          | Some ks ->
            pbound us rows ks
              (flips (map (C.fold n0) (C.second n0))
                (map (C.fold n0) (C.lower n0))) p o f { base =
              (C.root n0 sl); fphs =
              (map (fun _ -> ((false, false), (false, false))) (C.lower n0)) }
              t
          | None -> C.Rejected)
    else C.Rejected
 end

module DPaper = PaperChecker(DOps)(DChecker)

module SweepChecker =
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
 struct
  (** val at_end : O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T **)

  let at_end w e a =
    O.add (O.mul w a) e

  (** val bent :
      O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T -> O.coq_T ->
      (O.coq_T * O.coq_T) -> (O.coq_T * O.coq_T) option **)

  let bent k w e a b line =
    if O.isz k
    then Some line
    else if (&&) (O.leb (at_end w e a) O.zero) (O.leb (at_end w e b) O.zero)
         then Some line
         else if (&&) (O.leb O.zero (at_end w e a))
                   (O.leb O.zero (at_end w e b))
              then Some ((O.add (fst line) (O.mul k e)),
                     (O.add (snd line) (O.mul k w)))
              else None

  (** val line_of :
      C.coq_unit list -> C.vec -> O.coq_T -> O.coq_T -> (O.coq_T * O.coq_T)
      -> (O.coq_T * O.coq_T) option **)

  let rec line_of us k a b line =
    match us with
    | [] -> Some line
    | u :: us' ->
      let (w, e) = u in
      (match bent (C.hd0 k) (C.hd0 w) e a b line with
       | Some l -> line_of us' (tl k) a b l
       | None -> None)

  (** val flips_of :
      C.coq_unit list -> C.piece list -> C.vec -> O.coq_T -> O.coq_T ->
      (O.coq_T * O.coq_T) -> (O.coq_T * O.coq_T) option **)

  let rec flips_of us ds p a b line =
    match ds with
    | [] -> Some line
    | d :: ds' ->
      if O.isz (C.hd0 p)
      then flips_of us ds' (tl p) a b line
      else (match line_of us (C.po d) a b ((C.pc d), (C.hd0 (C.ps d))) with
            | Some p0 ->
              let (e, w) = p0 in
              (match bent (C.hd0 p) w e a b line with
               | Some l -> flips_of us ds' (tl p) a b l
               | None -> None)
            | None -> None)

  (** val copy_line :
      C.coq_unit list -> C.piece list -> C.vec -> C.vec -> C.vec -> O.coq_T
      -> O.coq_T -> (O.coq_T * O.coq_T) option **)

  let copy_line us ds k p q a b =
    match line_of us k a b (O.zero, (C.hd0 q)) with
    | Some l -> flips_of us ds p a b l
    | None -> None

  (** val lines :
      bool -> (O.coq_T -> O.coq_T -> (O.coq_T * O.coq_T) option) -> O.coq_T
      -> O.coq_T -> O.coq_T list ->
      ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) list option **)

  let rec lines whole0 f a b = function
  | [] ->
    if O.leb a b
    then (match f a b with
          | Some l -> Some (((a, b), l) :: [])
          | None -> None)
    else Some []
  | t :: cuts' ->
    let t' = if whole0 then O.floor t else t in
    let h = C.minT t' b in
    (match lines whole0 f (C.maxT a (if whole0 then O.add t' O.one else t'))
             b cuts' with
     | Some rest ->
       if O.leb a h
       then (match f a h with
             | Some l -> Some (((a, h), l) :: rest)
             | None -> None)
       else Some rest
     | None -> None)

  (** val pair_max :
      O.coq_T -> O.coq_T -> ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) ->
      ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) -> O.coq_T option **)

  let pair_max dl du x y =
    let (p, p0) = x in
    let (l3, h3) = p in
    let (c1, q3) = p0 in
    let (p1, p2) = y in
    let (l4, h4) = p1 in
    let (c2, q4) = p2 in
    if (&&) (O.leb (O.sub l3 h4) du) (O.leb dl (O.sub h3 l4))
    then (match C.max2 q3 q4 l3 h3 l4 h4 dl du with
          | Some v -> Some (O.add (O.add c1 c2) v)
          | None -> None)
    else None

  (** val larger : O.coq_T option -> O.coq_T option -> O.coq_T option **)

  let larger a b =
    match a with
    | Some u -> (match b with
                 | Some v -> Some (C.maxT u v)
                 | None -> a)
    | None -> b

  (** val top :
      ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) ->
      ((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T **)

  let top x = match x with
  | (p, p0) ->
    let (l, h) = p in
    let (c, q) = p0 in
    (x, (O.add c (O.mul q (if O.leb O.zero q then h else l))))

  (** val one_pair :
      O.coq_T -> O.coq_T ->
      (((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T) -> O.coq_T
      option -> (((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T) ->
      O.coq_T option **)

  let one_pair dl du x a y =
    if match a with
       | Some v -> O.leb (O.add (snd x) (snd y)) v
       | None -> false
    then a
    else larger a (pair_max dl du (fst x) (fst y))

  (** val all_pairs :
      O.coq_T -> O.coq_T ->
      (((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T) list ->
      (((O.coq_T * O.coq_T) * (O.coq_T * O.coq_T)) * O.coq_T) list -> O.coq_T
      option **)

  let all_pairs dl du xs ys =
    fold_left (fun a x -> fold_left (one_pair dl du x) ys a) xs None

  (** val sweep :
      C.slot list -> C.coq_unit list -> C.piece list -> C.psi -> C.vec ->
      C.vec -> O.coq_T list -> O.coq_T list -> C.res **)

  let sweep sl us ds f p1 p2 cuts1 cuts2 =
    match sl with
    | [] -> C.Rejected
    | s :: l ->
      (match s with
       | C.SPlain c ->
         (match l with
          | [] ->
            (match lines (C.whole c) (copy_line us ds (C.k1 f) p1 (C.q1 f))
                     (C.lo1 c) (C.hi1 c) cuts1 with
             | Some l3 ->
               (match lines (C.whole c)
                        (copy_line us ds (C.k2 f) p2 (C.q2 f)) (C.lo2 c)
                        (C.hi2 c) cuts2 with
                | Some l4 ->
                  (match all_pairs (C.dlo c) (C.dhi c) (map top l3)
                           (map top l4) with
                   | Some v -> C.Bound (O.add (C.const f) v)
                   | None -> C.Closed)
                | None -> C.Rejected)
             | None -> C.Rejected)
          | _ :: _ -> C.Rejected)
       | C.SGroup (_, _, _, _) -> C.Rejected)

  (** val gap_sweep :
      C.net -> C.slot list -> C.goal -> O.coq_T list -> O.coq_T list -> C.res **)

  let gap_sweep n0 sl g cuts1 cuts2 =
    if (&&) (C.fits n0 sl)
         ((&&) (forallb (C.nonneg n0 sl false) (C.second n0))
           (forallb (C.nonneg n0 sl true) (C.second n0)))
    then sweep sl (map (C.raw n0) (C.units n0)) [] (C.psi_of n0 g) [] []
           cuts1 cuts2
    else C.Rejected

  (** val paper_sweep :
      C.net -> C.slot list -> C.goal -> O.coq_T list -> O.coq_T list -> C.res **)

  let paper_sweep n0 sl g cuts1 cuts2 =
    if C.fits n0 sl
    then let (f, p0) = K.ppsi n0 g in
         let (p, o) = p0 in
         sweep sl (map (C.raw n0) (C.units n0))
           (K.flips (map (C.fold n0) (C.second n0))
             (map (C.fold n0) (C.lower n0))) f p o cuts1 cuts2
    else C.Rejected
 end

module DSweep = SweepChecker(DOps)(DChecker)(DPaper)

module SlopeChecker =
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
 struct
  type dirn =
  | Up
  | Down
  | Pin

  (** val dirn_rect : 'a1 -> 'a1 -> 'a1 -> dirn -> 'a1 **)

  let dirn_rect f f0 f1 = function
  | Up -> f
  | Down -> f0
  | Pin -> f1

  (** val dirn_rec : 'a1 -> 'a1 -> 'a1 -> dirn -> 'a1 **)

  let dirn_rec f f0 f1 = function
  | Up -> f
  | Down -> f0
  | Pin -> f1

  (** val sdirs : C.slot list -> dirn list option **)

  let rec sdirs = function
  | [] -> Some []
  | s0 :: s ->
    (match s0 with
     | C.SPlain c ->
       (match sdirs s with
        | Some ds ->
          if C.pinned c
          then Some (Pin :: ds)
          else if O.leb (C.dhi c) O.zero
               then Some (Down :: ds)
               else if O.leb O.zero (C.dlo c) then Some (Up :: ds) else None
        | None -> None)
     | C.SGroup (n0, _, _, pairs) ->
       (match sdirs s with
        | Some ds ->
          if forallb (fun pr -> (=) (fst pr) (snd pr)) pairs
          then Some (app (repeat Pin n0) ds)
          else None
        | None -> None))

  (** val hull : C.slot -> C.slot **)

  let hull s = match s with
  | C.SPlain c ->
    let l = C.minT (C.lo1 c) (C.lo2 c) in
    let h = C.maxT (C.hi1 c) (C.hi2 c) in
    C.SPlain { C.lo1 = l; C.hi1 = h; C.lo2 = l; C.hi2 = h; C.dlo = O.zero;
    C.dhi = O.zero; C.whole = ((&&) (C.whole c) (C.pinned c)) }
  | C.SGroup (_, _, _, _) -> s

  (** val mobile : C.slot -> bool **)

  let mobile = function
  | C.SPlain c -> negb (C.pinned c)
  | C.SGroup (_, _, _, _) -> false

  type stree =
  | Holds
  | Empty of C.vec * C.vec
  | SPhase of int * stree * stree
  | SInput of int * O.coq_T * stree * stree
  | SCategory of int * int * stree * stree

  (** val stree_rect :
      'a1 -> (C.vec -> C.vec -> 'a1) -> (int -> stree -> 'a1 -> stree -> 'a1
      -> 'a1) -> (int -> O.coq_T -> stree -> 'a1 -> stree -> 'a1 -> 'a1) ->
      (int -> int -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> stree -> 'a1 **)

  let rec stree_rect f f0 f1 f2 f3 = function
  | Holds -> f
  | Empty (le, ge) -> f0 le ge
  | SPhase (j, below1, above0) ->
    f1 j below1 (stree_rect f f0 f1 f2 f3 below1) above0
      (stree_rect f f0 f1 f2 f3 above0)
  | SInput (i, at_, below1, above0) ->
    f2 i at_ below1 (stree_rect f f0 f1 f2 f3 below1) above0
      (stree_rect f f0 f1 f2 f3 above0)
  | SCategory (i, p, is_, isnot) ->
    f3 i p is_ (stree_rect f f0 f1 f2 f3 is_) isnot
      (stree_rect f f0 f1 f2 f3 isnot)

  (** val stree_rec :
      'a1 -> (C.vec -> C.vec -> 'a1) -> (int -> stree -> 'a1 -> stree -> 'a1
      -> 'a1) -> (int -> O.coq_T -> stree -> 'a1 -> stree -> 'a1 -> 'a1) ->
      (int -> int -> stree -> 'a1 -> stree -> 'a1 -> 'a1) -> stree -> 'a1 **)

  let rec stree_rec f f0 f1 f2 f3 = function
  | Holds -> f
  | Empty (le, ge) -> f0 le ge
  | SPhase (j, below1, above0) ->
    f1 j below1 (stree_rec f f0 f1 f2 f3 below1) above0
      (stree_rec f f0 f1 f2 f3 above0)
  | SInput (i, at_, below1, above0) ->
    f2 i at_ below1 (stree_rec f f0 f1 f2 f3 below1) above0
      (stree_rec f f0 f1 f2 f3 above0)
  | SCategory (i, p, is_, isnot) ->
    f3 i p is_ (stree_rec f f0 f1 f2 f3 is_) isnot
      (stree_rec f f0 f1 f2 f3 isnot)

  (** val choose : O.coq_T -> C.vec -> dirn list -> C.vec -> C.vec **)

  let rec choose t w ds q =
    match ds with
    | [] -> q
    | d :: ds' ->
      let v = O.mul t (C.hd0 w) in
      let c =
        match d with
        | Up -> C.maxT v O.zero
        | Down -> C.minT v O.zero
        | Pin -> O.zero
      in
      (O.add c (C.hd0 q)) :: (choose t (tl w) ds' (tl q))

  (** val slopes :
      C.slot list -> dirn list -> C.coq_unit list -> C.phases -> C.vec ->
      C.vec -> C.vec option **)

  let rec slopes sl ds us ph k q =
    match us with
    | [] -> Some q
    | u :: us' ->
      let (w, c) = u in
      (match C.span false sl w with
       | Some p ->
         let (a, b) = p in
         let p0 = fst (C.hdp ph) in
         let r = snd (C.hdp ph) in
         let q' =
           if (||) (O.leb (O.add b c) O.zero) ((&&) (fst p0) (fst r))
           then q
           else if (||) (O.leb O.zero (O.add a c)) ((&&) (snd p0) (snd r))
                then C.axpy (C.hd0 k) w q
                else choose (C.hd0 k) w ds q
         in
         slopes sl ds us' (tl ph) (tl k) q'
       | None -> None)

  (** val signs_ok : dirn list -> C.vec -> bool **)

  let rec signs_ok ds q =
    match ds with
    | [] -> true
    | d :: ds' ->
      (&&)
        (match d with
         | Up -> O.leb (C.hd0 q) O.zero
         | Down -> O.leb O.zero (C.hd0 q)
         | Pin -> true) (signs_ok ds' (tl q))

  (** val emptyform :
      C.coq_unit list -> C.phases -> C.vec -> C.vec -> C.vec -> O.coq_T ->
      (C.vec * O.coq_T) option **)

  let rec emptyform us ph le ge q b =
    match us with
    | [] -> Some (q, b)
    | u :: us' ->
      let (w, c) = u in
      let p = fst (C.hdp ph) in
      let x = C.hd0 le in
      let y = C.hd0 ge in
      if (&&) ((||) (O.isz x) ((&&) (fst p) (O.leb O.zero x)))
           ((||) (O.isz y) ((&&) (snd p) (O.leb O.zero y)))
      then let v = O.sub y x in
           emptyform us' (tl ph) (tl le) (tl ge) (C.axpy v w q)
             (O.add b (O.mul v c))
      else None

  (** val both : bool -> int -> C.phases -> C.phases **)

  let both above0 j ph =
    C.setph true above0 j (C.setph false above0 j ph)

  (** val walk :
      dirn list -> bool list -> C.coq_unit list -> C.vec -> C.vec -> C.cell
      -> stree -> bool **)

  let rec walk ds mv us k q c = function
  | Holds ->
    (match C.span false (C.slots c) [] with
     | Some _ ->
       (match slopes (C.slots c) ds us (C.phs c) k q with
        | Some v -> signs_ok ds v
        | None -> true)
     | None -> true)
  | Empty (le, ge) ->
    (match emptyform us (C.phs c) le ge [] O.zero with
     | Some p ->
       let (w, b) = p in
       (match C.span false (C.slots c) w with
        | Some p0 -> let (_, h) = p0 in negb (O.leb O.zero (O.add h b))
        | None -> true)
     | None -> false)
  | SPhase (j, b, a) ->
    (&&)
      (walk ds mv us k q { C.slots = (C.slots c); C.phs =
        (both false j (C.phs c)) } b)
      (walk ds mv us k q { C.slots = (C.slots c); C.phs =
        (both true j (C.phs c)) } a)
  | SInput (i, th, b, a) ->
    if nth i mv true
    then false
    else (&&) (walk ds mv us k q (C.on (C.below C.Both th) i c) b)
           (walk ds mv us k q (C.on (C.above C.Both th) i c) a)
  | SCategory (i, p, b, a) ->
    if nth i mv true
    then false
    else (&&) (walk ds mv us k q (C.on (C.keep C.Both ((=) p)) i c) b)
           (walk ds mv us k q
             (C.on (C.keep C.Both (fun r -> negb ((=) p r))) i c) a)

  (** val opposite : C.vec -> C.vec -> bool **)

  let rec opposite a b =
    match a with
    | [] -> forallb O.isz b
    | x :: a' ->
      (match b with
       | [] -> forallb O.isz a
       | y :: b' -> (&&) (O.isz (O.add x y)) (opposite a' b'))

  (** val slope : C.net -> C.slot list -> C.goal -> stree -> bool **)

  let slope n0 sl g t =
    let f = C.psi_of n0 g in
    (match sdirs sl with
     | Some ds ->
       (&&)
         ((&&) (O.isz (C.const f))
           ((&&) (opposite (C.q1 f) (C.q2 f)) (opposite (C.k1 f) (C.k2 f))))
         (walk ds (map mobile sl) (map (C.raw n0) (C.units n0)) (C.k1 f)
           (C.q1 f) { C.slots = (map hull sl); C.phs =
           (map (fun _ -> ((false, false), (false, false))) (C.units n0)) } t)
     | None -> false)
 end

module DSlope = SlopeChecker(DOps)(DChecker)

module SignsChecker =
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
 struct
  (** val falls : C.slot list -> C.vec -> C.vec -> bool **)

  let rec falls sl l3 l4 =
    match sl with
    | [] -> true
    | s0 :: s ->
      (match s0 with
       | C.SPlain c ->
         let a = C.hd0 l3 in
         (&&)
           ((&&) (O.isz (O.add a (C.hd0 l4)))
             ((&&) (O.leb (O.mul a (C.dlo c)) O.zero)
               (O.leb (O.mul a (C.dhi c)) O.zero))) (falls s (tl l3) (tl l4))
       | C.SGroup (n0, _, _, pairs) ->
         (&&)
           (forallb (fun pr ->
             O.leb (O.add (C.nth0 (fst pr) l3) (C.nth0 (snd pr) l4)) O.zero)
             pairs) (falls s (skipn n0 l3) (skipn n0 l4)))

  (** val form :
      C.slot list -> C.row list -> C.vec -> C.vec -> C.vec -> bool **)

  let form sl rows nu l3 l4 =
    match C.extras rows nu O.zero l3 l4 with
    | Some p ->
      let (b, p0) = p in
      let (q, r) = p0 in (&&) (O.leb b O.zero) (falls sl q r)
    | None -> false

  (** val minus_vec : C.vec -> C.vec **)

  let minus_vec w =
    C.axpy (C.negT O.one) w []

  (** val unit_falls :
      C.slot list -> C.row list -> C.vec -> C.vec -> O.coq_T -> bool **)

  let unit_falls sl rows nu w k =
    if O.isz k
    then true
    else if O.leb O.zero k
         then form sl rows nu w (minus_vec w)
         else form sl rows nu (minus_vec w) w

  (** val units_fall :
      C.slot list -> C.row list -> C.coq_unit list -> C.vec -> C.vec list ->
      bool **)

  let rec units_fall sl rows us k nus =
    match us with
    | [] -> true
    | u :: us' ->
      let (w, _) = u in
      (&&) (unit_falls sl rows (hd [] nus) w (C.hd0 k))
        (units_fall sl rows us' (tl k) (tl nus))

  (** val signs :
      C.net -> C.slot list -> C.row list -> C.goal -> C.vec list -> bool **)

  let signs n0 sl rows g nus =
    let f = C.psi_of n0 g in
    (&&)
      ((&&) (O.isz (C.const f))
        ((&&) (L.opposite (C.q1 f) (C.q2 f)) (L.opposite (C.k1 f) (C.k2 f))))
      ((&&) (form sl rows (hd [] nus) (C.q1 f) (C.q2 f))
        (units_fall sl rows (map (C.raw n0) (C.units n0)) (C.k1 f) (tl nus)))
 end

module DSigns = SignsChecker(DOps)(DChecker)(DSlope)

type item =
| Pass of int
| Made of spread * (DOps.num * DOps.num)

(** val box_fits : (DOps.num * DOps.num) -> bool **)

let box_fits b =
  (&&) (DOps.leb (fst b) (snd b))
    ((&&) (ltb0 (negT0 hugeT) (fst b)) (ltb0 (snd b) hugeT))

(** val cut_item : (DOps.num * DOps.num) -> spread -> item option **)

let cut_item b s =
  if box_fits b
  then bind
         (settle (maxT0 (fst b) (minT0 s.s_lo (snd b)))
           (maxT0 (fst b) (minT0 s.s_hi (snd b))) s.s_low s.s_high s.s_up
           s.s_down) (fun t -> Some (Made (t, b)))
  else None

(** val pinned_item : bool -> (DOps.num * DOps.num) -> item option **)

let pinned_item all b =
  if box_fits b
  then bind
         (settle (fst b) (snd b) (DOps.sub (fst b) (snd b))
           (DOps.sub (snd b) (fst b)) all all) (fun t -> Some (Made (t, b)))
  else None

(** val branch_items :
    coord list -> known0 list -> branch -> item list option **)

let branch_items cs ks b =
  if passes b
  then bind
         (mapo (fun i -> bind (nth_error cs i) (fun _ -> nth_error ks i))
           b.columns) (fun _ -> Some (map (fun x -> Pass x) b.columns))
  else bind
         (mapo (fun i ->
           bind (nth_error cs i) (fun c ->
             bind (nth_error ks i) (fun k -> raw_spread c k))) b.columns)
         (fun ys ->
         bind (layers_spread b.steps ys None) (fun zs ->
           match b.pinned0 with
           | Some j ->
             if (=) j (length b.box)
             then mapo (pinned_item (forallb same zs)) b.box
             else None
           | None -> map2o cut_item b.box zs))

(** val encoder_items :
    coord list -> known0 list -> branch list -> item list option **)

let rec encoder_items cs ks = function
| [] -> Some []
| b :: bs' ->
  bind (branch_items cs ks b) (fun y ->
    bind (encoder_items cs ks bs') (fun r -> Some (app y r)))

(** val items_of : net0 -> known0 list -> item list option **)

let items_of n0 ks =
  if forallb scales n0.coords
  then (match n0.encoder with
        | Some bs -> encoder_items n0.coords ks bs
        | None -> Some (map (fun x -> Pass x) (seq 0 (length n0.coords))))
  else None

(** val members : int -> int -> coord list -> int list **)

let rec members f i = function
| [] -> []
| c :: cs' ->
  if (=) c.c_feature f
  then i :: (members f (Stdlib.Int.succ i) cs')
  else members f (Stdlib.Int.succ i) cs'

(** val takes : int list -> item list -> item list option **)

let rec takes idx its =
  match idx with
  | [] -> Some its
  | i :: idx' ->
    (match its with
     | [] -> None
     | i0 :: its' ->
       (match i0 with
        | Pass j -> if (=) i j then takes idx' its' else None
        | Made (_, _) -> None))

(** val feature_sum : int -> coord list -> DOps.num list -> DOps.num **)

let rec feature_sum f cs x =
  match cs with
  | [] -> DOps.zero
  | c :: cs' ->
    (match x with
     | [] -> DOps.zero
     | v :: x' ->
       if (=) c.c_feature f
       then DOps.add v (feature_sum f cs' x')
       else feature_sum f cs' x')

(** val one_hot_ok : coord list -> DOps.num list -> bool **)

let one_hot_ok cs x =
  (&&) ((=) (length x) (length cs))
    (forallb (fun c ->
      (||) (negb c.c_group) (eqb0 (feature_sum c.c_feature cs x) DOps.one))
      cs)

(** val bit : coord -> bool **)

let bit c =
  (&&) c.c_whole ((&&) (DOps.leb DOps.zero c.c_lo) (DOps.leb c.c_hi DOps.one))

(** val allowed : bool list -> bool list -> int list **)

let allowed ones zeros =
  filter (fun p ->
    (&&) (nth p ones false)
      (forallb (fun q -> (||) ((=) q p) (nth q zeros false))
        (seq 0 (length zeros)))) (seq 0 (length ones))

(** val one_ok : known0 -> DOps.num -> bool **)

let one_ok k v =
  (&&) (DOps.leb k.k_low v) (DOps.leb v k.k_high)

(** val pair_ok : known0 list -> int list -> (int * int) -> bool **)

let pair_ok gk bad pr =
  let at_ = fun i v ->
    match nth_error gk i with
    | Some k -> one_ok k v
    | None -> false
  in
  if (=) (fst pr) (snd pr)
  then (match bad with
        | [] -> true
        | _ :: _ -> false)
  else (&&) ((&&) (at_ (fst pr) DOps.one) (at_ (snd pr) (negT0 DOps.one)))
         (forallb (fun j -> (||) ((=) j (fst pr)) ((=) j (snd pr))) bad)

(** val group_slot : known0 list -> DChecker.slot **)

let group_slot gk =
  let al1 =
    allowed (map (fun k -> DOps.leb DOps.one k.k_h1) gk)
      (map (fun k -> DOps.leb k.k_l1 DOps.zero) gk)
  in
  let al2 =
    allowed (map (fun k -> DOps.leb DOps.one k.k_h2) gk)
      (map (fun k -> DOps.leb k.k_l2 DOps.zero) gk)
  in
  let bad =
    filter (fun j ->
      match nth_error gk j with
      | Some k -> negb (one_ok k DOps.zero)
      | None -> false) (seq 0 (length gk))
  in
  DChecker.SGroup ((length gk), al1, al2,
  (filter (pair_ok gk bad) (list_prod al1 al2)))

(** val slots_of :
    int -> coord list -> known0 list -> item list -> DChecker.slot list option **)

let rec slots_of fuel cs ks its = match its with
| [] -> Some []
| i0 :: r ->
  (match i0 with
   | Pass i ->
     ((fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> None)
        (fun f ->
        bind (nth_error cs i) (fun c ->
          bind (nth_error ks i) (fun k ->
            if c.c_group
            then let idx = members c.c_feature 0 cs in
                 bind (mapo (nth_error cs) idx) (fun gc ->
                   bind (mapo (nth_error ks) idx) (fun gk ->
                     bind (takes idx its) (fun rest ->
                       bind (slots_of f cs ks rest) (fun l ->
                         if forallb bit gc
                         then Some ((group_slot gk) :: l)
                         else None))))
            else bind (slots_of f cs ks r) (fun l -> Some ((DChecker.SPlain
                   { DChecker.lo1 = k.k_l1; DChecker.hi1 = k.k_h1;
                   DChecker.lo2 = k.k_l2; DChecker.hi2 = k.k_h2;
                   DChecker.dlo = k.k_low; DChecker.dhi = k.k_high;
                   DChecker.whole = c.c_whole }) :: l)))))
        fuel)
   | Made (s, _) ->
     ((fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> None)
        (fun f ->
        bind (slots_of f cs ks r) (fun l -> Some ((DChecker.SPlain
          { DChecker.lo1 = s.s_lo; DChecker.hi1 = s.s_hi; DChecker.lo2 =
          s.s_lo; DChecker.hi2 = s.s_hi; DChecker.dlo = s.s_low;
          DChecker.dhi = s.s_high; DChecker.whole = false }) :: l)))
        fuel))

(** val source : item -> int option **)

let source = function
| Pass i -> Some i
| Made (_, _) -> None

(** val over : bool -> int option list -> term list -> DOps.num list **)

let over k srcs ts =
  map (fun s -> match s with
                | Some i -> coef k i ts
                | None -> DOps.zero) srcs

(** val count : int -> int option list -> int **)

let rec count i = function
| [] -> 0
| o :: r ->
  (match o with
   | Some j -> if (=) i j then Stdlib.Int.succ (count i r) else count i r
   | None -> count i r)

(** val once : int option list -> term list -> bool **)

let once srcs ts =
  forallb (fun t -> (=) (count (snd t) srcs) (Stdlib.Int.succ 0)) ts

(** val is_extra : row0 -> bool **)

let is_extra r =
  match clean r.terms with
  | [] -> false
  | t :: l0 ->
    let (p, i) = t in
    let (a, k) = p in
    (match l0 with
     | [] -> false
     | t0 :: l3 ->
       let (p0, j) = t0 in
       let (b, l) = p0 in
       (match l3 with
        | [] ->
          negb
            ((&&) ((=) i j) ((&&) (negb (eqb k l)) (DOps.isz (DOps.add a b))))
        | _ :: _ -> true))

(** val extra_row : int option list -> row0 -> DChecker.row list **)

let extra_row srcs r =
  let ts = clean r.terms in
  if (&&) (is_extra r) (once srcs ts)
  then { DChecker.r1 = (over false srcs ts); DChecker.r2 =
         (over true srcs ts); DChecker.rhs = r.right; DChecker.eqr =
         r.equal } :: []
  else []

(** val scale_of :
    coord list -> (coord -> DOps.num) -> DOps.num -> item -> DOps.num **)

let scale_of cs f made = function
| Pass i -> (match nth_error cs i with
             | Some c -> f c
             | None -> made)
| Made (_, _) -> made

(** val piece_of :
    int -> int -> bool -> (DOps.num list * DOps.num) -> DChecker.piece **)

let piece_of m before skip r =
  { DChecker.pc = (snd r); DChecker.ps =
    (if skip then firstn m (fst r) else []); DChecker.po =
    (app (repeat DOps.zero before) (if skip then skipn m (fst r) else fst r)) }

(** val scaled_end : (coord -> DOps.num) -> coord -> DOps.num **)

let scaled_end f c =
  DOps.mul c.c_mult (DOps.sub (f c) c.c_shift)

(** val ends_piece :
    coord list -> (DOps.num list * DOps.num) -> DChecker.piece **)

let ends_piece cs r =
  let rise = firstn (length cs) (fst r) in
  let fall = skipn (length cs) (fst r) in
  { DChecker.pc =
  (DOps.add
    (DOps.sub (snd r)
      (DChecker.dotT rise (map (scaled_end (fun c -> c.c_lo)) cs)))
    (DChecker.dotT fall (map (scaled_end (fun c -> c.c_hi)) cs)));
  DChecker.ps = (DChecker.axpy (negT0 DOps.one) fall rise); DChecker.po = [] }

(** val real_net : net0 -> item list -> DChecker.net **)

let real_net n0 its =
  let m = length its in
  { DChecker.mult =
  (map (scale_of n0.coords (fun c -> c.c_mult) DOps.one) its);
  DChecker.shift =
  (map (scale_of n0.coords (fun c -> c.c_shift) DOps.zero) its);
  DChecker.units = (app n0.lower0.hidden0 n0.second0.hidden0);
  DChecker.lower = (map (piece_of m 0 n0.lower0.skips) n0.lower0.sums);
  DChecker.second =
  (map
    (if n0.ends
     then ends_piece n0.coords
     else piece_of m (length n0.lower0.hidden0) n0.second0.skips)
    n0.second0.sums); DChecker.head = (map fst n0.head0) }

type known_err = { e_size : DOps.num; e_err : DOps.num }

(** val item_err : coord list -> item -> known_err option **)

let item_err cs = function
| Pass i ->
  bind (nth_error cs i) (fun c -> Some { e_size =
    (DOps.mul (far c) c.c_mult); e_err = (error c) })
| Made (_, b) ->
  Some { e_size = (maxT0 (negT0 (fst b)) (snd b)); e_err = DOps.zero }

(** val row_err :
    DOps.num list -> DOps.num list -> DOps.num list -> DOps.num -> (DOps.num
    list * DOps.num) -> known_err option **)

let row_err y e r inputs = function
| (row1, b) ->
  let n0 = length row1 in
  let total = norm (DOps.add (abs_dot row1 r) (absT0 b)) in
  let e0 =
    norm
      (DOps.add (abs_dot row1 e) (linear_err n0 total (abs_sum row1) inputs))
  in
  if (&&) ((&&) ((=) n0 (length r)) (fits_gamma n0))
       (ltb0 (DOps.add total e0) hugeT)
  then Some { e_size = (norm (DOps.add (abs_dot row1 y) (absT0 b))); e_err =
         e0 }
  else None

(** val rows_err :
    known_err list -> (DOps.num list * DOps.num) list -> known_err list option **)

let rows_err i rows =
  let r = map (fun a -> norm (DOps.add a.e_size a.e_err)) i in
  mapo
    (row_err (map (fun k -> k.e_size) i) (map (fun k -> k.e_err) i) r
      (norm (fold_right DOps.add DOps.zero r))) rows

(** val part_err : part -> known_err list -> known_err list option **)

let part_err p i =
  bind (rows_err i p.hidden0) (fun h ->
    rows_err (app (if p.skips then i else []) h) p.sums)

(** val end_err : coord -> known_err -> (known_err * known_err) option **)

let end_err c a =
  let one_ = fun f ->
    let size1 = norm (DOps.add a.e_size (absT0 (scaled_end f c))) in
    let e = DOps.add a.e_err (error c) in
    { e_size = size1; e_err =
    (norm (DOps.add e (DOps.add (DOps.mul uT (DOps.add size1 e)) etaT))) }
  in
  let small = fun k ->
    ltb0 (DOps.add k.e_size k.e_err) (DOps.add (twice hugeT) (twice hugeT))
  in
  if (&&)
       ((&&) (DOps.leb c.c_lo c.c_hi) ((&&) (floatb c.c_lo) (floatb c.c_hi)))
       ((&&) (small (one_ (fun c0 -> c0.c_lo)))
         (small (one_ (fun c0 -> c0.c_hi))))
  then Some ((one_ (fun c0 -> c0.c_lo)), (one_ (fun c0 -> c0.c_hi)))
  else None

(** val ends_err :
    coord list -> known_err list -> (known_err list * known_err list) option **)

let rec ends_err cs i =
  match cs with
  | [] -> (match i with
           | [] -> Some ([], [])
           | _ :: _ -> None)
  | c :: cs' ->
    (match i with
     | [] -> None
     | a :: i' ->
       bind (end_err c a) (fun p ->
         bind (ends_err cs' i') (fun r -> Some (((fst p) :: (fst r)),
           ((snd p) :: (snd r))))))

(** val second_err : net0 -> known_err list -> known_err list option **)

let second_err n0 i =
  if n0.ends
  then bind (ends_err n0.coords i) (fun p -> Some (app (fst p) (snd p)))
  else Some i

(** val upper_err : boxes -> known_err -> known_err -> known_err option **)

let upper_err bx l s =
  match bx with
  | Gap ->
    let size1 = norm (DOps.add l.e_size s.e_size) in
    let e = DOps.add l.e_err s.e_err in
    let e0 =
      norm (DOps.add e (DOps.add (DOps.mul uT (DOps.add size1 e)) etaT))
    in
    if ltb0 (DOps.add size1 e0) hugeT
    then Some { e_size = size1; e_err = e0 }
    else None
  | Paper ->
    Some { e_size = (maxT0 l.e_size s.e_size); e_err =
      (maxT0 l.e_err s.e_err) }

(** val power : DOps.num -> bool **)

let power c =
  (&&) (Coq_Pos.eqb c.DOps.de Big.one)
    (Z.eqb c.DOps.man
      (Z.pow ((fun x -> Big.shift_left x 1) Big.one) (Z.log2 c.DOps.man)))

(** val head_err :
    DOps.num list -> DOps.num list -> DOps.num list -> DOps.num -> ((DOps.num
    list * DOps.num) * DOps.num) -> DOps.num option **)

let head_err _ e r inputs = function
| (p, c) ->
  let (row1, b) = p in
  let n0 = length row1 in
  let g = gammaT n0 in
  let total = norm (DOps.add (abs_dot row1 r) (absT0 b)) in
  let e0 =
    norm
      (DOps.add (abs_dot row1 e)
        (DOps.add (DOps.mul g total)
          (DOps.mul
            (DOps.mul (DOps.add DOps.one g)
              (DOps.mul etaT (maxT0 DOps.one c)))
            (DOps.add
              (DOps.add
                (fromZ
                  (Z.add
                    (Z.mul ((fun x -> Big.succ (Big.shift_left x 1)) Big.one)
                      (Z.of_nat n0))
                    ((fun x -> Big.succ (Big.shift_left x 1)) Big.one)))
                (abs_sum row1)) inputs))))
  in
  let small = fun w -> ltb0 (absT0 w) (DOps.mul hugeT c) in
  if (&&)
       ((&&) ((&&) (power c) (ltb0 DOps.zero c))
         ((&&) ((&&) ((=) n0 (length r)) (fits_gamma n0))
           (forallb floatb (b :: row1))))
       ((&&) ((&&) (forallb small row1) (small b))
         ((&&) (ltb0 (DOps.add total e0) hugeT)
           (ltb0 (DOps.add total e0) (DOps.mul hugeT c))))
  then Some e0
  else None

(** val margins_of : net0 -> item list -> DOps.num list option **)

let margins_of n0 its =
  bind (mapo (item_err n0.coords) its) (fun i ->
    bind (part_err n0.lower0 i) (fun l ->
      bind (second_err n0 i) (fun j ->
        bind (part_err n0.second0 j) (fun s ->
          bind (map2o (upper_err n0.kind) l s) (fun z0 ->
            let r = map (fun a -> norm (DOps.add a.e_size a.e_err)) z0 in
            mapo
              (head_err (map (fun k -> k.e_size) z0)
                (map (fun k -> k.e_err) z0) r
                (norm (fold_right DOps.add DOps.zero r))) n0.head0)))))

type ready = { r_slots : DChecker.slot list; r_rows : DChecker.row list;
               r_sources : int option list; r_net : DChecker.net;
               r_errors : DOps.num list; r_kind : boxes; r_pinned : bool list }

(** val shapes : net0 -> int -> bool **)

let shapes n0 m =
  let ok = fun p ->
    forallb (fun r ->
      (=) (length (fst r)) (add (if p.skips then m else 0) (length p.hidden0)))
      p.sums
  in
  let affine = fun r -> (=) (length (fst r)) (add m m) in
  (&&) (ok n0.lower0)
    (if n0.ends
     then (&&)
            ((&&) ((=) (length n0.coords) m) (forallb affine n0.second0.sums))
            ((&&) n0.second0.skips
              (match n0.second0.hidden0 with
               | [] -> (match n0.encoder with
                        | Some _ -> false
                        | None -> true)
               | _ :: _ -> false))
     else ok n0.second0)

(** val pinned_in : known0 list -> item -> bool **)

let pinned_in ks = function
| Pass i -> (match nth_error ks i with
             | Some k -> k.k_pinned
             | None -> false)
| Made (s, _) -> same s

(** val prepare : net0 -> premise -> ready option **)

let prepare n0 p =
  bind (ground n0.coords p) (fun ks ->
    bind (items_of n0 ks) (fun its ->
      bind (slots_of (length its) n0.coords ks its) (fun sl ->
        bind (margins_of n0 its) (fun es ->
          let srcs = map source its in
          let real = real_net n0 its in
          let wide0 =
            match n0.kind with
            | Gap ->
              (&&)
                (forallb (DChecker.nonneg real sl false)
                  (DChecker.second real))
                (forallb (DChecker.nonneg real sl true)
                  (DChecker.second real))
            | Paper -> true
          in
          if (&&)
               ((&&) (shapes n0 (length its))
                 (forallb (DOps.leb DOps.zero) es)) wide0
          then Some { r_slots = sl; r_rows =
                 (flat_map (extra_row srcs) p.when0); r_sources = srcs;
                 r_net = real; r_errors = es; r_kind = n0.kind; r_pinned =
                 (map (pinned_in ks) its) }
          else None))))

(** val row_goal : ready -> goal0 -> DChecker.goal **)

let row_goal r g =
  let outs_of = fun k ->
    map (fun o -> coef k o g.outs) (seq 0 (length (DChecker.head r.r_net)))
  in
  { DChecker.a1 = (outs_of false); DChecker.a2 = (outs_of true);
  DChecker.b1 = (over false r.r_sources g.ins); DChecker.b2 =
  (over true r.r_sources g.ins); DChecker.limit = g.g_right;
  DChecker.margins = r.r_errors }

type way =
| Tree of DChecker.lemma list * DChecker.tree
| Flips of DChecker.lemma list * DPaper.ptree
| Sweep of DOps.num list * DOps.num list
| Slope of DSlope.stree
| Signs of DOps.num list list

(** val wide : DChecker.net -> DChecker.slot list -> bool **)

let wide n0 sl =
  (&&) (DChecker.fits n0 sl)
    ((&&) (forallb (DChecker.nonneg n0 sl false) (DChecker.second n0))
      (forallb (DChecker.nonneg n0 sl true) (DChecker.second n0)))

(** val real_bound : ready -> DChecker.goal -> way -> DChecker.res **)

let real_bound r d = function
| Tree (ls, t) ->
  (match r.r_kind with
   | Gap -> DChecker.run r.r_net r.r_slots r.r_rows d ls t
   | Paper -> DChecker.Rejected)
| Flips (ls, t) ->
  (match r.r_kind with
   | Gap -> DChecker.Rejected
   | Paper -> DPaper.prun r.r_net r.r_slots r.r_rows d ls t)
| Sweep (c1, c2) ->
  (match r.r_kind with
   | Gap -> DSweep.gap_sweep r.r_net r.r_slots d c1 c2
   | Paper -> DSweep.paper_sweep r.r_net r.r_slots d c1 c2)
| Slope t ->
  (match r.r_kind with
   | Gap ->
     if (&&) (wide r.r_net r.r_slots) (DSlope.slope r.r_net r.r_slots d t)
     then DChecker.Bound DOps.zero
     else DChecker.Rejected
   | Paper -> DChecker.Rejected)
| Signs nus ->
  (match r.r_kind with
   | Gap ->
     if (&&) (wide r.r_net r.r_slots)
          (DSigns.signs r.r_net r.r_slots r.r_rows d nus)
     then DChecker.Bound DOps.zero
     else DChecker.Rejected
   | Paper -> DChecker.Rejected)

(** val row_bound : ready -> goal0 -> way -> (DOps.num * DOps.num) option **)

let row_bound r g w =
  let d = row_goal r g in
  if (&&) (below0 (length (DChecker.head r.r_net)) g.outs)
       (once r.r_sources g.ins)
  then (match real_bound r d w with
        | DChecker.Bound b ->
          Some ((norm b),
            (norm
              (DOps.add (DChecker.margin (DChecker.a1 d) r.r_errors)
                (DChecker.margin (DChecker.a2 d) r.r_errors))))
        | _ -> None)
  else None

(** val accepts : goal0 -> DOps.num -> (DOps.num * DOps.num) -> bool **)

let accepts g room found =
  DOps.leb (DOps.add (fst found) (snd found))
    (DOps.add g.g_right (minT0 room (twice (snd found))))

(** val swaps : DChecker.slot -> bool **)

let swaps = function
| DChecker.SPlain c ->
  (&&)
    ((&&) (eqb0 (DChecker.lo1 c) (DChecker.lo2 c))
      (eqb0 (DChecker.hi1 c) (DChecker.hi2 c)))
    (DOps.isz (DOps.add (DChecker.dlo c) (DChecker.dhi c)))
| DChecker.SGroup (n0, al1, al2, pairs) ->
  (&&)
    ((&&) (forallb (fun p -> existsb ((=) p) al2) al1)
      (forallb (fun p -> existsb ((=) p) al1) al2))
    (forallb (fun q ->
      let back = map snd (filter (fun pr -> (=) (fst pr) q) pairs) in
      forallb (fun pr ->
        (||) (negb ((=) (snd pr) q)) (existsb ((=) (fst pr)) back)) pairs)
      (seq 0 n0))

(** val same_nums : DOps.num list -> DOps.num list -> bool **)

let rec same_nums a b =
  match a with
  | [] -> (match b with
           | [] -> true
           | _ :: _ -> false)
  | x :: a' ->
    (match b with
     | [] -> false
     | y :: b' -> (&&) (eqb0 x y) (same_nums a' b'))

(** val mirrors : ready -> goal0 -> goal0 -> bool **)

let mirrors r g of_ =
  let d = row_goal r g in
  let e = row_goal r of_ in
  (&&)
    ((&&) (forallb swaps r.r_slots)
      (match r.r_rows with
       | [] -> true
       | _ :: _ -> false))
    ((&&)
      ((&&)
        ((&&) (below0 (length (DChecker.head r.r_net)) g.outs)
          (once r.r_sources g.ins)) (eqb0 g.g_right of_.g_right))
      ((&&)
        ((&&) (same_nums (DChecker.a1 d) (DChecker.a2 e))
          (same_nums (DChecker.a2 d) (DChecker.a1 e)))
        ((&&) (same_nums (DChecker.b1 d) (DChecker.b2 e))
          (same_nums (DChecker.b2 d) (DChecker.b1 e)))))

type shown =
| Own of way
| Mirror of goal0 * way

(** val bound_of : ready -> goal0 -> shown -> (DOps.num * DOps.num) option **)

let bound_of r g = function
| Own w -> row_bound r g w
| Mirror (of_, w) -> if mirrors r g of_ then row_bound r of_ w else None

(** val kept : coord list -> premise -> int list **)

let kept cs p =
  filter (fun i ->
    match nth_error cs i with
    | Some c -> pin_stated p (named cs p) i c
    | None -> false) (seq 0 (length cs))

(** val half :
    coord list -> premise -> bool -> int -> DOps.num -> bool -> premise **)

let half cs p k i th up1 =
  let r =
    if up1
    then { terms = ((((negT0 DOps.one), k), i) :: []); equal = false; right =
           (negT0 th) }
    else { terms = (((DOps.one, k), i) :: []); equal = false; right = th }
  in
  { when0 = (app p.when0 (r :: [])); others = p.others; equals =
  (app p.equals (kept cs p)); frees = p.frees }

(** val times_terms : DOps.num -> term list -> term list **)

let times_terms w ts =
  map (fun t -> (((DOps.mul w (fst (fst t))), (snd (fst t))), (snd t))) ts

(** val mean : DOps.num list -> goal0 list -> goal0 **)

let rec mean ws gs =
  match ws with
  | [] -> { outs = []; ins = []; g_equal = false; g_right = DOps.zero }
  | w :: ws' ->
    (match gs with
     | [] -> { outs = []; ins = []; g_equal = false; g_right = DOps.zero }
     | g :: gs' ->
       let r = mean ws' gs' in
       { outs = (app (times_terms w g.outs) r.outs); ins =
       (app (times_terms w g.ins) r.ins); g_equal = false; g_right =
       (DOps.add (DOps.mul w g.g_right) r.g_right) })

(** val weighs : DOps.num list -> goal0 list -> bool **)

let weighs ws gs =
  (&&) ((=) (length ws) (length gs))
    ((&&) (forallb (DOps.leb DOps.zero) ws)
      (eqb0 (fold_right DOps.add DOps.zero ws) DOps.one))

(** val means : DOps.num list list -> goal0 list list -> goal0 list option **)

let rec means wss clauses =
  match wss with
  | [] -> (match clauses with
           | [] -> Some []
           | _ :: _ -> None)
  | ws :: wss' ->
    (match clauses with
     | [] -> None
     | gs :: clauses' ->
       if weighs ws gs
       then bind (means wss' clauses') (fun l -> Some ((mean ws gs) :: l))
       else None)

type cases =
| Case of DOps.num list list * shown option list
| Cut of bool * int * DOps.num * cases * cases

(** val is_shown :
    net0 -> bool -> premise -> ready -> (goal0 * DOps.num) -> shown option ->
    bool **)

let is_shown n0 fixed p r g = function
| Some s' ->
  (match bound_of r (fst g) s' with
   | Some f -> accepts (fst g) (snd g) f
   | None -> false)
| None ->
  (&&) ((&&) fixed (DOps.leb DOps.zero (snd g)))
    (match check_order n0 p ((fst g) :: []) with
     | Some l ->
       (match l with
        | [] -> false
        | b :: l0 ->
          if b then (match l0 with
                     | [] -> true
                     | _ :: _ -> false) else false)
     | None -> false)

(** val all_shown :
    net0 -> bool -> premise -> ready -> (goal0 * DOps.num) list -> shown
    option list -> bool **)

let rec all_shown n0 fixed p r gs ss =
  match gs with
  | [] -> (match ss with
           | [] -> true
           | _ :: _ -> false)
  | g :: gs' ->
    (match ss with
     | [] -> false
     | s :: ss' ->
       (&&) (is_shown n0 fixed p r g s) (all_shown n0 fixed p r gs' ss'))

(** val check_cases :
    net0 -> bool -> premise -> (goal0 * DOps.num) list -> goal0 list list ->
    cases -> bool **)

let rec check_cases n0 fixed p rows clauses = function
| Case (wss, ss) ->
  (match prepare n0 p with
   | Some r ->
     (match means wss clauses with
      | Some ms ->
        all_shown n0 fixed p r (app rows (map (fun g -> (g, DOps.zero)) ms))
          ss
      | None -> false)
   | None -> false)
| Cut (k, i, th, b, a) ->
  (&&) (check_cases n0 fixed (half n0.coords p k i th false) rows clauses b)
    (check_cases n0 fixed (half n0.coords p k i th true) rows clauses a)
