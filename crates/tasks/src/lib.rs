//! Background tasks that never end quietly: one that ends or panics is started again, and what does not get on
//! can be seen from outside. And the threads on which they compute.

mod background;
mod backoff;
mod board;
mod keep_running;

pub use background::{spawn_background, step_back};
pub use backoff::Backoff;
pub use board::{TaskBoard, TaskProblem};
pub use keep_running::{TaskEnd, endless, keep_running};
