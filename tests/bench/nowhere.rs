//! A journal that keeps nothing: only the tools are measured.

use std::path::PathBuf;

use cairn_agent::store::{BeforeImage, Journal, StoreError};
use cairn_protocol::{BlobId, CallId, OutputId, SessionId};
use futures_util::future::BoxFuture;

pub(crate) struct Nowhere;

impl Journal for Nowhere {
    fn before_change(&self, _: BeforeImage) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn after_change(&self, _: CallId, _: PathBuf, _: bool) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn put_blob(&self, _: Vec<u8>) -> BoxFuture<'_, Result<BlobId, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::Missing("blobs".into()))))
    }

    fn get_blob(&self, _: BlobId) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::Missing("blobs".into()))))
    }

    fn put_output(&self, _: SessionId, _: String) -> BoxFuture<'_, Result<OutputId, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::Missing("outputs".into()))))
    }

    fn get_output(&self, _: SessionId, _: OutputId) -> BoxFuture<'_, Result<String, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::Missing("outputs".into()))))
    }
}
