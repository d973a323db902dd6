//! A connection that became a WebSocket: it keeps its place among the connections, and goes when it is told to.

use std::sync::Arc;

use tokio::sync::watch;

use super::Stage;
use super::answer_body::RequestPlace;
use super::connections::{Connection, Place};

/// Given to every request, for those that turn into something that lasts.
#[derive(Clone)]
pub struct SocketPlace {
    place: Arc<Place>,
    stage: watch::Receiver<Stage>,
}

/// The same, once it lasts: the connection counts as at work.
pub struct HeldPlace {
    connection: Arc<Connection>,
    stage: watch::Receiver<Stage>,
    _busy: RequestPlace,
    _place: Arc<Place>,
}

impl SocketPlace {
    pub fn new(place: Arc<Place>, stage: watch::Receiver<Stage>) -> Self {
        SocketPlace { place, stage }
    }

    pub fn hold(self) -> HeldPlace {
        let connection = self.place.connection.clone();
        let busy = RequestPlace::new(connection.clone(), false, None);
        HeldPlace { connection, stage: self.stage, _busy: busy, _place: self.place }
    }
}

impl HeldPlace {
    /// Ends when the connection has to go: its client does not read, there is no room, or the server stops.
    pub async fn told_to_go(&mut self) {
        let stage = &mut self.stage;
        let stops = async {
            // Gone with the server.
            let _ = stage.wait_for(|stage| *stage != Stage::Serving).await;
        };
        tokio::select! {
            () = self.connection.told_to_go() => {}
            () = stops => {}
        }
    }
}
