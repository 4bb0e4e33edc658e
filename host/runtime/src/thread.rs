//! A thread for one member alone.
//!
//! Where the engine is a task among the program's, whatever keeps their threads busy keeps the
//! engine from answering the ring, and the others go on without it: also where the runtime has
//! several threads, because the task that a task wakes waits for it on its thread.

use crate::RuntimeError;
use std::future::Future;
use tokio::runtime::{Builder, EnterGuard, Runtime};

/// A tokio runtime, until its thread has it.
pub(crate) struct Thread(Option<Runtime>);

impl Thread {
    pub(crate) fn new() -> Result<Self, RuntimeError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.map(|runtime| Self(Some(runtime))).map_err(refused)
    }

    /// What is opened and spawned meanwhile is on this runtime.
    pub(crate) fn enter(&self) -> Option<EnterGuard<'_>> {
        self.0.as_ref().map(Runtime::enter)
    }

    /// Runs what was spawned, until `end` has come.
    pub(crate) fn run(mut self, end: impl Future<Output = ()> + Send + 'static) -> Result<(), RuntimeError> {
        let thread = std::thread::Builder::new().name("folkmoot-member".into());
        // Without a thread, what was to run there is dropped here, and the runtime as below.
        let run = move || self.0.take().map(|runtime| runtime.block_on(end));
        thread.spawn(run).map(drop).map_err(refused)
    }
}

impl Drop for Thread {
    /// A runtime that is dropped by a task may not wait for its tasks.
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

fn refused(error: std::io::Error) -> RuntimeError {
    RuntimeError::LocalStart(format!("the system gives no thread: {}", crate::in_words(&error)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Thread;

    /// As when the system gives no thread, or the folder cannot be opened.
    #[tokio::test]
    async fn a_task_may_drop_a_runtime_that_has_no_thread() {
        let thread = Thread::new().unwrap();
        tokio::spawn(async move { drop(thread) }).await.unwrap();
    }
}
