(** What the theorems rest on; the output is compared with assumptions.txt. *)
From Smile Require Import Num Leaf LeafSound Float SlopeSound Paper Binary64 IEEE LayerSound Premise Witness NetworkSound Deployed JointPremise LeafDeployed AnyDeployed AnyFixed Sweep Signs Cases.
Print Assumptions order_sound.
Print Assumptions leaf_sound.
Print Assumptions leaf_sound_any.
Print Assumptions leaf_sound_one.
Print Assumptions cases_sound.
Print Assumptions cases_sound_any.
Print Assumptions fixed_is_any.
Print Assumptions any_network_is_there.
Print Assumptions cut_selects.
Print Assumptions cut_between.
Print Assumptions witness_sound.
Print Assumptions one_hot_sound.
Print Assumptions fl_plus.
Print Assumptions fl_minus.
Print Assumptions fl_mult.
Print Assumptions fl_div.
Print Assumptions DSound.check_sound.
Print Assumptions DSound.check_one.
Print Assumptions DSlopeSound.slope_sound.
Print Assumptions DPaperSound.prun_sound.
Print Assumptions DSweepSound.gap_sweep_sound.
Print Assumptions DSweepSound.paper_sweep_sound.
Print Assumptions DSignsSound.signs_sound.
