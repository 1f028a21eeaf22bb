(* smilecheck [--json] FOLDER: the proved checker of certificates. Exit codes as the specification has them: 0 certified,
   1 refused, 2 unreadable, 3 not shown, or not covered by the proof. *)
open Report

(* the claims of properties.json, where it is listed, are those of the certificate; comments do not count *)
let compare_claims properties entries =
  let plain = function
    | Json.Object l -> Json.Object (("sentence", Json.Text "") :: List.remove_assoc "sentence" l)
    | v -> v in
  let listed = match Json.member "claims" properties with
    | Some (Json.List l) -> l | _ -> refuse "properties.json lists no claims" in
  let proved = List.map (fun e -> Option.value (Json.member "claim" e) ~default:Json.Null) entries in
  need (Json.encoded (Json.List (List.map plain listed)) = Json.encoded (Json.List (List.map plain proved)))
    "the certificate holds other claims than properties.json"

let check folder =
  let files, manifest = Folder.read folder in
  let file name = List.assoc name files in
  let description = Json.parse "model.json" (file "model.json") in
  let model = Model.read description (Tensors.read (file "weights.safetensors")) in
  let content = Json.parse "certificate.json" (file "certificate.json") in
  let is key value = Json.member key content = Some value in
  need (is "format" (Json.Text "smilenn-certificate")) "this is not a certificate";
  need (is "version" (Json.Int (Z.of_int 2))) "the certificate has another version";
  need (Json.is_object [ "format"; "version"; "profile"; "model"; "proofs"; "proofs_sha256"; "claims" ] content)
    "the certificate has missing or unknown keys";
  need (is "profile" (Json.Text model.Model.profile)) "the certificate is for another numeric profile than the model's";
  need (is "proofs" (Json.Text "certificate.bin")) "the certificate names another file of proofs";
  let data = file "certificate.bin" in
  need (is "proofs_sha256" (Json.Text (Sha256.hex data))) "certificate.bin is not the file of this certificate";
  need (is "model" (Json.Text model.Model.digest)) "the certificate belongs to another model: the weights differ";
  let entries = match Json.member "claims" content with
    | Some (Json.List (_ :: _ as l)) -> l | _ -> refuse "the certificate holds no claims" in
  (match List.assoc_opt "properties.json" files with
   | Some text -> compare_claims (Json.parse "properties.json" text) entries
   | None -> ());
  let work = ref (1 lsl 31) and nodes = ref (1 lsl 24) in
  let spend count by =
    work := !work - by;
    nodes := !nodes - count;
    need (!work >= 0 && !nodes >= 0) "the proofs would take too long to check" in
  let proofs = { Proofs.data; taken = 0 } in
  let claims = List.mapi (fun i entry -> Claims.check model spend (fun () -> !nodes) proofs (i + 1) entry) entries in
  need (proofs.Proofs.taken = String.length data) "certificate.bin holds bytes that no row uses";
  let holds = List.for_all (fun c -> List.for_all (fun r -> r.Report.holds) c.Report.rows) claims in
  { status = (if holds then "certified" else "unknown"); reason = ""; certificate = Sha256.hex (file "certificate.json"); profile = model.Model.profile;
    domain = model.Model.domain.Model.lines; claims; meaning = model.Model.meaning; manifest }

let too_large = empty "unknown" "not covered by the proof: a folder of this size"

let report folder =
  try check folder with
  | Refused reason -> empty "refused" reason
  | Unreadable reason -> empty "unreadable" reason
  | Uncovered what -> empty "unknown" ("not covered by the proof: " ^ what)
  | Stack_overflow | Out_of_memory -> too_large
  | failure -> empty "unknown" ("not covered by the proof: the program failed, " ^ Printexc.to_string failure)

let contents channel =
  let all = Buffer.create 65536 in
  (try while true do Buffer.add_channel all channel 1 done with End_of_file -> ());
  Buffer.contents all

(* What [compute] says, from a process of its own: one that runs out of stack or memory may be ended by the system, and there is an answer
   still. It ends if nobody waits for it any more. *)
let guarded compute say =
  let input, output = Unix.pipe ~cloexec:true () in
  let parent = Unix.getpid () in
  match Unix.fork () with
  | 0 ->
    Unix.close input;
    Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> if Unix.getppid () <> parent then Unix._exit 4));
    ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 1.; it_value = 1. });
    (try
       let r = compute () in
       let channel = Unix.out_channel_of_descr output in
       output_string channel (say r);
       close_out channel;
       Unix._exit (exit_code r)
     with _ -> Unix._exit 4)
  | child ->
    Unix.close output;
    let channel = Unix.in_channel_of_descr input in
    set_binary_mode_in channel true;
    let said = contents channel in
    let rec wait () = try snd (Unix.waitpid [] child) with Unix.Unix_error (Unix.EINTR, _, _) -> wait () in
    (match wait () with
     | Unix.WEXITED code when code <= 3 && said <> "" -> (said, code)
     | _ -> (say too_large, exit_code too_large))

(* The proved program recurses along lists. A collection of young blocks goes through all of the stack, so there should be few. *)
let () =
  (try Gc.set { (Gc.get ()) with Gc.minor_heap_size = 1 lsl 22 } with Out_of_memory -> ());
  let arguments = List.tl (Array.to_list Sys.argv) in
  match List.filter (fun a -> a <> "--json") arguments with
  | [ folder ] ->
    let said, code = guarded (fun () -> report folder) (if List.length arguments > 1 then json else text) in
    print_string said;
    exit code
  | _ ->
    prerr_endline "usage: smilecheck [--json] FOLDER";
    exit 2
