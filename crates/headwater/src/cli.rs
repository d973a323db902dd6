//! The command line, a stable contract.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli_examples as examples;
use crate::config::Flags;

/// Blockchain data, event streams and node RPC from your own EVM nodes, in one binary.
#[derive(Parser)]
#[command(name = "headwater", version, about, arg_required_else_help = true, after_help = examples::ALL)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Write a commented configuration file, from flags or from answers on a terminal
    #[command(after_help = examples::INIT)]
    Init(InitArgs),
    /// Look at nodes, disk, ports, clock and limits, and say what to do; exits 1 where something is wrong
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Everything in one process on a simulated live chain; prints URLs and a key
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Read the configured chains and answer requests
    #[command(after_help = examples::SERVE)]
    Serve(ServeArgs),
    /// Import blocks from files: records {block, receipts, traces?} in JSON-RPC shapes
    #[command(after_help = examples::IMPORT)]
    Import(ImportArgs),
    /// Decode stored blocks again with the decoders of this build; beside a running server, through it
    #[command(after_help = examples::REDECODE)]
    Redecode(RedecodeArgs),
    /// Make, list and revoke API keys
    #[command(subcommand, after_help = examples::KEYS)]
    Keys(KeysCommand),
    /// Check or print the merged configuration
    #[command(subcommand, after_help = examples::CONFIG)]
    Config(ConfigCommand),
    /// One hash over all that is stored of a chain, to compare two stores
    #[command(after_help = examples::DIGEST)]
    Digest(DigestArgs),
    /// Hold balances that nodes prove against what stored blocks explain; exits 1 where they contradict
    #[command(after_help = examples::AUDIT)]
    Audit(AuditArgs),
    /// Read everything that is stored and say what holds; exits 1 where something does not
    #[command(after_help = examples::CHECK)]
    Check(CheckArgs),
    /// Open a damaged data folder at its last good write; keeps damaged files, says what is lost
    #[command(after_help = examples::REPAIR)]
    Repair(RepairArgs),
    /// Copy the store of a data folder, as it is at one moment, into a new folder; a running server goes on
    #[command(after_help = examples::BACKUP)]
    Backup(BackupArgs),
    /// Make a store of a backup in an empty data folder
    #[command(after_help = examples::RESTORE)]
    Restore(RestoreArgs),
    /// Bring the schema of the database of store.url up to this build's; a server does that when it starts
    #[command(after_help = examples::MIGRATE)]
    Migrate(MigrateArgs),
    /// Copy what one store holds into another, and compare their digests; one that was cut off goes on
    #[command(after_help = examples::COPY)]
    Copy(CopyArgs),
    /// What the server on a data folder is doing, as JSON
    #[command(after_help = examples::STATUS)]
    Status(StatusArgs),
    /// A receiver of webhooks to try streams with: checks signatures, numbers and digests, and prints payloads
    #[command(after_help = examples::LISTEN)]
    Listen(ListenArgs),
    /// What a shell needs to complete commands and flags
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
}

#[derive(Args)]
pub struct InitArgs {
    /// The file to write (TOML)
    #[arg(long, value_name = "FILE", default_value = "headwater.toml")]
    pub config: PathBuf,
    /// A node to read a chain from; may be given many times. Without it, questions are asked
    #[arg(long, value_name = "CHAIN=URL")]
    pub rpc: Vec<String>,
    /// The oldest block to fill down to
    #[arg(long, value_name = "CHAIN=N")]
    pub from_block: Vec<String>,
    /// Data folder
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Where to listen, IP:PORT
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// Replace the file if it is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub place: Where,
    /// Where to listen, IP:PORT
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// A node, beside those of the configuration; may be given many times
    #[arg(long, value_name = "CHAIN=URL")]
    pub rpc: Vec<String>,
    /// The whole report as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub struct DemoArgs {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDR")]
    pub listen: String,
    /// Blocks of history to start with
    #[arg(long, default_value_t = 300)]
    pub blocks: usize,
    /// Seed of the simulated chain: the same seed gives the same history
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The chain to pass for: the official SDKs accept no chain that they do not know
    #[arg(long = "as", value_enum, default_value_t = DemoChain::Demo, value_name = "CHAIN")]
    pub served_as: DemoChain,
    /// The same answers every time: the chain begins on 2026-01-01 and gets no new blocks
    #[arg(long)]
    pub fixed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum DemoChain {
    /// A chain of its own, 1337
    Demo,
    /// Ethereum's name and id, 1
    Eth,
}

impl DemoChain {
    pub fn slug(self) -> &'static str {
        match self {
            DemoChain::Demo => "demo",
            DemoChain::Eth => "eth",
        }
    }

    pub fn id(self) -> u64 {
        match self {
            DemoChain::Demo => 1337,
            DemoChain::Eth => 1,
        }
    }
}

#[derive(Args, Clone)]
pub struct ServeArgs {
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Data folder
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Where to listen, IP:PORT
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// A node to read a chain from; may be given many times
    #[arg(long, value_name = "CHAIN=URL")]
    pub rpc: Vec<String>,
    /// The oldest block to fill down to
    #[arg(long, value_name = "CHAIN=N")]
    pub from_block: Vec<String>,
    /// What this process does
    #[arg(long, value_enum, default_value_t = Role::All)]
    pub role: Role,
}

/// On a data folder there is one process: `all`, or `api`. On a database there may be any number of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Role {
    /// Read chains, match and send streams, and answer requests
    All,
    /// Read chains; of several processes one reads a chain, another takes over when it ends
    Ingest,
    /// Answer from what is stored, and forward to nodes; read nothing new
    Api,
    /// Answer JSON-RPC alone
    Gateway,
    /// Match blocks against streams and send webhooks
    Streams,
}

#[derive(Args)]
pub struct ImportArgs {
    #[command(flatten)]
    pub place: Where,
    /// The chain the blocks are of: a name, a hex id, or a decimal id
    #[arg(long)]
    pub chain: String,
    /// Files: .json (one record, or a genesis file), .jsonl (one a line), .rlp (blocks as nodes export them) or .era1
    /// (archives of history), also with .gz or .zst
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Args)]
pub struct RedecodeArgs {
    #[command(flatten)]
    pub place: Where,
    /// A chain: a name, a hex id, or a decimal id; may be given many times. All stored ones by default
    #[arg(long)]
    pub chain: Vec<String>,
    /// Also where all blocks are decoded by these decoders already
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct DigestArgs {
    #[command(flatten)]
    pub place: Where,
    /// The chain: a name, a hex id, or a decimal id
    #[arg(long)]
    pub chain: String,
}

#[derive(Args)]
pub struct AuditArgs {
    #[command(flatten)]
    pub place: Where,
    /// The chain: a name, a hex id, or a decimal id
    #[arg(long)]
    pub chain: String,
    /// Blocks, both ends included: 100-200, or one number
    #[arg(long, value_name = "A-B")]
    pub blocks: String,
    /// Accounts of each block, drawn by lot; 0 is all of them
    #[arg(long, default_value_t = 4)]
    pub sample: usize,
    /// A node to ask for proofs, beside those of the configuration; not beside a running server, which asks its own
    #[arg(long, value_name = "CHAIN=URL")]
    pub rpc: Vec<String>,
    /// The whole report as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub place: Where,
}

#[derive(Args)]
pub struct RepairArgs {
    #[command(flatten)]
    pub place: Where,
}

#[derive(Args)]
pub struct BackupArgs {
    #[command(flatten)]
    pub place: Where,
    /// The folder to make; it must not exist, or be empty
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Args)]
pub struct RestoreArgs {
    #[command(flatten)]
    pub place: Where,
    /// A folder that `headwater backup` made
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Args)]
pub struct MigrateArgs {
    #[command(flatten)]
    pub place: Where,
    /// Spread the tables of databases that have the Citus extension over its workers, once
    #[arg(long)]
    pub citus: bool,
}

#[derive(Args)]
pub struct CopyArgs {
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A data folder, or postgres://…
    #[arg(long, value_name = "STORE")]
    pub from: String,
    /// The same; made where it does not exist
    #[arg(long, value_name = "STORE")]
    pub to: String,
}

#[derive(Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub place: Where,
}

#[derive(Args)]
pub struct ListenArgs {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:9090", value_name = "ADDR")]
    pub listen: String,
    /// What webhooks are signed with: the secretKey of the settings, plain or as whsec_…
    #[arg(long, env = "HEADWATER_LISTEN_SECRET", hide_env_values = true)]
    pub secret: Option<String>,
    /// Answer this share of the requests with 500, to see retries: 0.2 is every fifth
    #[arg(long, value_name = "RATE", default_value_t = 0.0)]
    pub fail: f64,
    /// One line per payload, without the payload
    #[arg(long)]
    pub quiet: bool,
}

/// Where the store is.
#[derive(Args)]
pub struct Where {
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Data folder
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

#[derive(Subcommand)]
pub enum KeysCommand {
    /// Make a key; prints it alone on stdout, once
    #[command(after_help = examples::KEYS_CREATE)]
    Create {
        #[command(flatten)]
        place: Where,
        /// Who the key belongs to; tenants do not see each other's streams
        #[arg(long, default_value = "default")]
        tenant: String,
        /// A name to tell keys apart
        #[arg(long, default_value = "")]
        name: String,
        /// A key that may do everything, for every tenant
        #[arg(long)]
        admin: bool,
        /// Compute units per second; the server's limit by default
        #[arg(long)]
        units_per_second: Option<u32>,
        /// The only methods of the node RPC it may call, e.g. eth_call,eth_get*; all by default
        #[arg(long, value_delimiter = ',', value_name = "METHODS")]
        allow_methods: Vec<String>,
        /// Methods of the node RPC it may not call, e.g. debug_*,trace_*
        #[arg(long, value_delimiter = ',', value_name = "METHODS")]
        deny_methods: Vec<String>,
    },
    /// List keys by id, without the keys themselves
    #[command(after_help = examples::KEYS_LIST)]
    List {
        #[command(flatten)]
        place: Where,
    },
    /// Revoke a key by its id; it is refused from then on
    #[command(after_help = examples::KEYS_REVOKE)]
    Revoke {
        #[command(flatten)]
        place: Where,
        id: String,
    },
}

#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Say whether the configuration is good
    #[command(after_help = examples::CONFIG_CHECK)]
    Check(ServeArgs),
    /// Print the merged configuration, secrets hidden
    #[command(after_help = examples::CONFIG_PRINT)]
    Print(ServeArgs),
}

impl From<&ServeArgs> for Flags {
    fn from(args: &ServeArgs) -> Self {
        Flags {
            config: args.config.clone(),
            data: args.data.clone(),
            listen: args.listen.clone(),
            rpc: args.rpc.clone(),
            from_block: args.from_block.clone(),
        }
    }
}

impl From<&DoctorArgs> for Flags {
    fn from(args: &DoctorArgs) -> Self {
        let (rpc, listen) = (args.rpc.clone(), args.listen.clone());
        Flags { rpc, listen, ..Flags::from(&args.place) }
    }
}

impl From<&AuditArgs> for Flags {
    fn from(args: &AuditArgs) -> Self {
        Flags { rpc: args.rpc.clone(), ..Flags::from(&args.place) }
    }
}

impl From<&Where> for Flags {
    fn from(place: &Where) -> Self {
        Flags { config: place.config.clone(), data: place.data.clone(), ..Flags::default() }
    }
}
