//! What one connection is doing, and since when: is it waiting for a request, at work, or for a client
//! that does not read?
//!
//! In: what happens on the connection, each with its time. Out: whether it is overdue, and how readily it
//! may be closed to make room. Pure: knows no clock, no socket.

use std::time::{Duration, Instant};

/// How long each state may last.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    pub header: Duration,
    pub idle: Duration,
    pub send: Duration,
    pub send_bytes_per_second_min: u64,
}

/// Why a connection was closed before its client did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// No request, or only the beginning of one.
    Header,
    Idle,
    /// The client does not take its answer, or too slowly.
    Send,
    /// To make room for another.
    Room,
}

impl Cut {
    pub fn name(self) -> &'static str {
        match self {
            Cut::Header => "header_timeout",
            Cut::Idle => "idle_timeout",
            Cut::Send => "send_timeout",
            Cut::Room => "room",
        }
    }
}

/// A connection that opened a moment ago may have its request on the way.
const FRESH: Duration = Duration::from_millis(100);
/// A client that takes nothing for so long may be cut off where room is needed.
const STALLED: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub struct Activity {
    opened: Instant,
    requests: u64,
    under_way: u32,
    is_h2: bool,
    /// When the last request ended.
    idle_since: Instant,
    /// When the first byte after it came: the head of another, in HTTP/1.
    head_since: Option<Instant>,
    /// The socket takes no more.
    blocked_since: Option<Instant>,
    written: u64,
    /// Since when the client has something to take, and what was written before.
    window: Option<(Instant, u64)>,
    bodies: Vec<Body>,
}

#[derive(Debug)]
struct Body {
    id: u64,
    /// When a piece was last taken; none while it is us who have no next piece.
    waiting_since: Option<Instant>,
}

impl Activity {
    pub fn new(now: Instant) -> Self {
        Activity {
            opened: now,
            requests: 0,
            under_way: 0,
            is_h2: false,
            idle_since: now,
            head_since: None,
            blocked_since: None,
            written: 0,
            window: None,
            bodies: Vec::new(),
        }
    }

    /// Bytes came in.
    pub fn read(&mut self, now: impl FnOnce() -> Instant) {
        // In HTTP/2 they may be a ping; a head that never ends counts as idle there.
        if self.under_way == 0 && self.requests > 0 && !self.is_h2 {
            self.head_since.get_or_insert_with(now);
        }
    }

    /// Bytes went out.
    pub fn wrote(&mut self, bytes: usize) {
        self.written = self.written.saturating_add(bytes as u64);
        self.blocked_since = None;
    }

    /// The socket took none.
    pub fn blocked(&mut self, now: Instant) {
        self.blocked_since.get_or_insert(now);
    }

    /// Whether the next request came together with the one before: nothing was read since.
    pub fn is_pipelined(&self) -> bool {
        self.requests > 0 && !self.is_h2 && self.head_since.is_none()
    }

    /// A request's head is complete. Says its number.
    pub fn request_began(&mut self, is_h2: bool) -> u64 {
        self.requests += 1;
        self.under_way += 1;
        self.is_h2 = is_h2;
        self.head_since = None;
        self.requests
    }

    /// Its answer is there, to be taken.
    pub fn answer_began(&mut self, id: u64, now: Instant) {
        self.bodies.push(Body { id, waiting_since: Some(now) });
    }

    /// A piece of it was taken; or, with none, the next piece is not made yet.
    pub fn answer_went_on(&mut self, id: u64, taken: Option<Instant>) {
        if let Some(body) = self.bodies.iter_mut().find(|body| body.id == id) {
            body.waiting_since = taken;
        }
    }

    /// All was taken, or nobody wants it any more.
    pub fn request_ended(&mut self, id: u64, now: Instant) {
        self.bodies.retain(|body| body.id != id);
        self.under_way = self.under_way.saturating_sub(1);
        if self.under_way == 0 {
            self.idle_since = now;
        }
    }

    pub fn is_h2(&self) -> bool {
        self.is_h2
    }

    /// Whether anybody would miss an answer if it ended now.
    pub fn is_busy(&self) -> bool {
        self.under_way > 0 || self.blocked_since.is_some()
    }

    /// To be called every now and then.
    pub fn overdue(&mut self, now: Instant, limits: &Timeouts) -> Option<Cut> {
        let over = |since: Instant, limit| now.saturating_duration_since(since) >= limit;
        if self.is_too_slow(now, limits) {
            return Some(Cut::Send);
        }
        if self.is_busy() {
            return None;
        }
        let head_since = if self.requests == 0 { Some(self.opened) } else { self.head_since };
        match head_since {
            Some(since) => over(since, limits.header).then_some(Cut::Header),
            None => over(self.idle_since, limits.idle).then_some(Cut::Idle),
        }
    }

    /// Since when the client has something to take and does not.
    fn stalled_since(&self) -> Option<Instant> {
        let oldest = self.bodies.iter().filter_map(|body| body.waiting_since).min();
        match (oldest, self.blocked_since) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    fn is_too_slow(&mut self, now: Instant, limits: &Timeouts) -> bool {
        let Some(stalled) = self.stalled_since() else {
            self.window = None;
            return false;
        };
        if now.saturating_duration_since(stalled) >= limits.send {
            return true;
        }
        let (since, before) = *self.window.get_or_insert((now, self.written));
        let passed = now.saturating_duration_since(since);
        if passed < limits.send {
            return false;
        }
        let least = passed.as_secs_f64() * limits.send_bytes_per_second_min as f64;
        self.window = Some((now, self.written));
        ((self.written - before) as f64) < least
    }

    /// The lower, the sooner it is closed to make room; the oldest first among equals. None where it stays.
    pub fn dispensable(&self, now: Instant) -> Option<(u8, Instant)> {
        let lasted = |since: Instant, least| now.saturating_duration_since(since) >= least;
        if self.is_busy() {
            let since = self.stalled_since()?;
            return lasted(since, STALLED).then_some((2, since));
        }
        let (rank, since) =
            if self.requests == 0 { (0, self.opened) } else { (1, self.idle_since) };
        lasted(since, FRESH).then_some((rank, since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Timeouts = Timeouts {
        header: Duration::from_secs(10),
        idle: Duration::from_secs(60),
        send: Duration::from_secs(20),
        send_bytes_per_second_min: 100,
    };

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn a_connection_that_asks_nothing_or_dribbles_is_overdue() {
        let start = Instant::now();
        let mut silent = Activity::new(start);
        assert_eq!(silent.overdue(after(start, 9), &LIMITS), None);
        assert_eq!(silent.overdue(after(start, 10), &LIMITS), Some(Cut::Header));
        let mut dribbling = Activity::new(start);
        (0..10).for_each(|second| dribbling.read(|| after(start, second)));
        assert_eq!(dribbling.overdue(after(start, 10), &LIMITS), Some(Cut::Header));
    }

    #[test]
    fn between_requests_it_may_idle_but_not_dribble() {
        let start = Instant::now();
        let mut connection = Activity::new(start);
        let id = connection.request_began(false);
        assert_eq!(connection.overdue(after(start, 500), &LIMITS), None, "a handler is at work");
        connection.request_ended(id, after(start, 500));
        assert_eq!(connection.overdue(after(start, 559), &LIMITS), None);
        assert_eq!(connection.overdue(after(start, 560), &LIMITS), Some(Cut::Idle));
        assert!(connection.is_pipelined(), "whatever came now came with the first");
        connection.read(|| after(start, 530));
        assert!(!connection.is_pipelined());
        assert_eq!(connection.overdue(after(start, 540), &LIMITS), Some(Cut::Header));
    }

    #[test]
    fn pings_do_not_keep_an_idle_h2_connection_open() {
        let start = Instant::now();
        let mut connection = Activity::new(start);
        let id = connection.request_began(true);
        connection.request_ended(id, start);
        (0..60).for_each(|second| connection.read(|| after(start, second)));
        assert_eq!(connection.overdue(after(start, 59), &LIMITS), None);
        assert_eq!(connection.overdue(after(start, 60), &LIMITS), Some(Cut::Idle));
    }

    #[test]
    fn a_client_that_takes_nothing_is_cut_whether_the_socket_or_its_window_is_full() {
        let start = Instant::now();
        let mut blocked = Activity::new(start);
        let id = blocked.request_began(false);
        blocked.answer_began(id, start);
        blocked.answer_went_on(id, Some(start));
        blocked.request_ended(id, start);
        blocked.blocked(start);
        assert_eq!(blocked.overdue(after(start, 19), &LIMITS), None);
        assert_eq!(blocked.overdue(after(start, 20), &LIMITS), Some(Cut::Send));
        // HTTP/2: one stream goes on, the other is not read.
        let mut connection = Activity::new(start);
        let (one, other) = (connection.request_began(true), connection.request_began(true));
        connection.answer_began(one, start);
        connection.answer_began(other, start);
        for second in 0..20 {
            connection.answer_went_on(one, Some(after(start, second)));
            connection.wrote(10_000);
        }
        assert_eq!(connection.overdue(after(start, 20), &LIMITS), Some(Cut::Send));
    }

    #[test]
    fn a_client_that_takes_a_little_now_and_then_is_cut_and_a_slow_one_is_not() {
        let start = Instant::now();
        for (bytes, expected) in [(99, Some(Cut::Send)), (101, None)] {
            let mut connection = Activity::new(start);
            let id = connection.request_began(false);
            connection.answer_began(id, start);
            let mut ended = None;
            for second in 0..30 {
                let now = after(start, second);
                connection.answer_went_on(id, Some(now));
                connection.wrote(bytes);
                connection.blocked(now);
                ended = ended.or(connection.overdue(now, &LIMITS));
            }
            assert_eq!(ended, expected, "{bytes} bytes a second");
        }
    }

    #[test]
    fn an_answer_that_we_have_not_made_yet_is_nobodys_fault() {
        let start = Instant::now();
        let mut connection = Activity::new(start);
        let id = connection.request_began(false);
        connection.answer_began(id, start);
        connection.answer_went_on(id, None);
        assert_eq!(connection.overdue(after(start, 100), &LIMITS), None);
    }

    #[test]
    fn the_silent_go_first_then_the_idle_then_who_does_not_read() {
        let start = Instant::now();
        let now = after(start, 5);
        let silent = Activity::new(start);
        let fresh = Activity::new(now);
        let mut idle = Activity::new(start);
        let id = idle.request_began(false);
        assert_eq!(idle.dispensable(now), None, "a request is under way");
        idle.request_ended(id, start);
        let mut stalled = Activity::new(start);
        let id = stalled.request_began(false);
        stalled.answer_began(id, start);
        assert_eq!(fresh.dispensable(now), None);
        let ranks = [silent, idle, stalled].map(|one| one.dispensable(now).unwrap().0);
        assert_eq!(ranks, [0, 1, 2]);
    }
}
