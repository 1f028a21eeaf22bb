(* The files of a model folder (section 6): regular files within the limits, with the manifest's hashes. *)
open Report

let mib = 1 lsl 20

(* a regular file, no link to one; a file that was exchanged between two looks is refused too *)
let read_file folder name =
  let path = Filename.concat folder name in
  let limit = if Filename.check_suffix name ".json" then 64 * mib else 1024 * mib in
  let unreadable reason = raise (Unreadable (name ^ reason)) in
  let irregular () = unreadable " is not a regular file" in
  try
    let first = Unix.LargeFile.lstat path in
    if first.Unix.LargeFile.st_kind <> Unix.S_REG then irregular ();
    let file = Unix.openfile path [ Unix.O_RDONLY; Unix.O_NONBLOCK; Unix.O_CLOEXEC ] 0 in
    Fun.protect ~finally:(fun () -> Unix.close file) (fun () ->
        let status = Unix.LargeFile.fstat file in
        let same = status.Unix.LargeFile.st_ino = first.Unix.LargeFile.st_ino
                   && status.Unix.LargeFile.st_dev = first.Unix.LargeFile.st_dev in
        if status.Unix.LargeFile.st_kind <> Unix.S_REG || not same then irregular ();
        let length = status.Unix.LargeFile.st_size in
        if length > Int64.of_int limit then unreadable " is too large";
        let wanted = Int64.to_int length in
        let data = Bytes.create (wanted + 1) in
        let rec fill at =
          if at > wanted then at
          else match Unix.read file data at (wanted + 1 - at) with 0 -> at | got -> fill (at + got) in
        let got = fill 0 in
        if got > limit then unreadable " is too large";
        Bytes.sub_string data 0 got)
  with Unix.Unix_error (code, _, _) -> unreadable (" cannot be read: " ^ Unix.error_message code)

let plain name =
  let good c = match c with 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '.' | '_' | '-' -> true | _ -> false in
  let n = String.length name in
  n >= 1 && n <= 100 && name.[0] <> '.' && String.for_all good name
  && name <> "manifest.json" && name <> "signature.json"

let entry name v =
  match (Json.is_object [ "sha256"; "bytes" ] v, Json.member "sha256" v, Json.member "bytes" v) with
  | true, Some (Json.Text hash), Some (Json.Int bytes) -> (name, hash, bytes)
  | _ -> refuse (Printf.sprintf "the manifest's entry of %s is malformed" name)

let needed = [ "model.json"; "weights.safetensors"; "certificate.json"; "certificate.bin" ]

(* the files that a checker reads, by name, and the manifest's digest *)
let read folder =
  let manifest = Json.parse "manifest.json" (read_file folder "manifest.json") in
  let is key value = Json.member key manifest = Some value in
  need (is "format" (Json.Text "smilenn-model")) "manifest.json is not a manifest";
  let first = is "version" (Json.Int Z.one) in
  need (first || is "version" (Json.Int (Z.of_int 2))) "the model folder has another version";
  if first then uncovered "a folder of version 1";
  let listed = match Json.member "files" manifest with
    | Some (Json.Object l) -> l
    | _ -> refuse "manifest.json lists no files" in
  let check (name, v) =
    need (plain name) (Words.quoted name ^ " is not a plain file name");
    entry name v in
  let entries = List.map check listed in
  need (Json.is_object [ "format"; "version"; "library"; "files"; "digest" ] manifest
        && (match Json.member "library" manifest with Some (Json.Text _) -> true | _ -> false))
    "manifest.json has missing or unknown keys";
  let lines = List.map (fun (name, hash, bytes) -> Printf.sprintf "%s %s %s\n" hash (Z.to_string bytes) name)
      (List.sort (fun (a, _, _) (b, _, _) -> compare a b) entries) in
  let text = String.concat "" ("smilenn-model 2\n" :: lines) in
  need (Words.whole_characters text) "a text holds half a character";
  let digest = Sha256.hex text in
  need (is "digest" (Json.Text digest)) "manifest.json was altered: its digest differs";
  let file (name, hash, bytes) =
    let data = read_file folder name in
    need (Z.equal (Z.of_int (String.length data)) bytes && Sha256.hex data = hash) (name ^ " was altered: hash differs");
    (name, if List.mem name ("properties.json" :: needed) then data else "") in
  let files = List.map file entries in
  List.iter (fun name -> if not (List.mem_assoc name files) then raise (Unreadable ("the folder has no " ^ name))) needed;
  (files, digest)
