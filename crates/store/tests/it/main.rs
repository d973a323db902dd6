//! What is true of the embedded engine alone, from outside: its folder, older formats, a killed process,
//! damaged files, a full disk.

#[cfg(test)]
#[path = "../conformance/copy_folder.rs"]
mod copy_folder;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod descriptors;
#[cfg(test)]
mod disk_full;
#[cfg(test)]
mod files;
#[cfg(test)]
mod folder;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod index_files;
#[cfg(test)]
mod index_runs;
#[cfg(test)]
mod kill_reader;
#[cfg(test)]
#[path = "../conformance/made_facts.rs"]
mod made_facts;
#[cfg(test)]
mod retain;
#[cfg(test)]
mod segments;
#[cfg(test)]
#[path = "../conformance/sim_block.rs"]
mod sim_block;
#[cfg(test)]
#[path = "../formats/unpack.rs"]
mod unpack;
