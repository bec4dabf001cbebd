//! When something fails that is not the model's and not a tool's: storage, or the driver itself.

use cairn_protocol::{
    ApiError, ErrorCode, Event, EventBody, Notice, NoticeLevel, SessionId, UnixMillis, WIRE_VERSION,
};

use super::Driver;
use crate::store::StoreError;

impl Driver {
    /// Storage failed: nothing more may happen that could not be kept. The person is told; what is on disk stays.
    pub(super) fn give_up(&mut self) {
        self.stream = None;
        self.cancel.cancel();
        let Some(error) = self.broken.clone() else { return };
        let notice = Notice {
            level: NoticeLevel::Error,
            code: "storage_failed".to_owned(),
            text: error.to_string(),
        };
        self.show(EventBody::ActivityChanged {
            activity: cairn_protocol::Activity::Idle,
        });
        self.show(EventBody::Notice { notice });
    }
}

/// What is said when the driver itself failed.
pub(super) fn inside(session: SessionId, at: UnixMillis) -> Event {
    let text = "Something failed inside Cairn and the request was cut off; that is a fault of Cairn's. What was shown is \
                kept. Open the session again to go on.";
    let notice = Notice {
        level: NoticeLevel::Error,
        code: "fault".to_owned(),
        text: text.to_owned(),
    };
    Event {
        v: WIRE_VERSION,
        seq: 0,
        session,
        at,
        body: EventBody::Notice { notice },
    }
}

/// What a storage failure is called on the wire.
pub fn storage_error(error: &StoreError) -> ApiError {
    let code = match error {
        StoreError::Full(_) => ErrorCode::DiskFull,
        StoreError::Held { .. } => ErrorCode::Busy,
        StoreError::Missing(_) => ErrorCode::NotFound,
        StoreError::NotWritable(_) | StoreError::Database(_) => ErrorCode::Storage,
    };
    ApiError::new(code, error.to_string())
}
