//! nginx as people put it before a node: kept-alive connections to it, and a cache by the whole body.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::process::{Process, free_port, wait_for};

pub struct Nginx {
    pub process: Process,
    pub address: String,
}

impl Nginx {
    pub async fn start(binary: &Path, folder: &Path, node: &str) -> Result<Self> {
        let port = free_port()?;
        let folder = folder.join("nginx");
        std::fs::create_dir_all(folder.join("cache"))?;
        let config = folder.join("nginx.conf");
        std::fs::write(&config, text(port, &folder, node))?;
        let mut command = Command::new(binary);
        command
            .arg("-p")
            .arg(&folder)
            .arg("-c")
            .arg(&config)
            .arg("-e")
            .arg(folder.join("error.log"));
        let process = Process::start(&mut command)?;
        let address = format!("127.0.0.1:{port}");
        wait_for(&format!("http://{address}")).await?;
        Ok(Nginx { process, address })
    }
}

fn text(port: u16, folder: &Path, node: &str) -> String {
    let folder = folder.display();
    format!(
        "daemon off;
worker_processes auto;
pid {folder}/pid;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_body_buffer_size 64k;
  proxy_buffers 16 64k;
  proxy_buffer_size 64k;
  proxy_cache_path {folder}/cache levels=1:2 keys_zone=blocks:64m max_size=2g inactive=60m use_temp_path=off;
  upstream node {{ server {node}; keepalive 64; keepalive_requests 1000000000; }}
  proxy_http_version 1.1;
  proxy_set_header Connection \"\";
  server {{
    listen 127.0.0.1:{port};
    location /proxy {{ proxy_pass http://node/; }}
    location /cache {{
      proxy_pass http://node/;
      proxy_cache blocks;
      proxy_cache_methods POST;
      proxy_cache_key $request_body;
      proxy_cache_valid 200 60m;
      proxy_ignore_headers Cache-Control Expires;
    }}
  }}
}}
"
    )
}
