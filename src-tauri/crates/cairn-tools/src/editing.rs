//! What all tools that change files have alike: their class and time limit, and judging a call where it may block.
//!
//! Must never know: what a tool changes.

use std::sync::Arc;
use std::time::Duration;

use cairn_agent::tool::{CallContext, Prepared, Tool, ToolClass, ToolError, ToolSpec};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::args;
use crate::place::Workspace;

/// Time limit of one call. SPEC T2.
const LIMIT: Duration = Duration::from_secs(5);

/// Reads the arguments of a call.
type Parse<I> = fn(&str, Map<String, Value>) -> Result<I, ToolError>;
/// Finds out what a call would do; may read files.
type Judge<I> = fn(&Arc<Workspace>, &I) -> Result<Prepared, ToolError>;

/// A tool that changes files, by its input and what it makes of it.
pub(crate) struct Editing<I> {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    parse: Parse<I>,
    judge: Judge<I>,
}

impl<I: JsonSchema + DeserializeOwned + Send + 'static> Editing<I> {
    pub(crate) fn new(name: &str, workspace: Arc<Workspace>, judge: Judge<I>) -> Self {
        Self {
            spec: args::spec::<I>(name, ToolClass::Edit, Some(LIMIT)),
            workspace,
            parse: args::parse,
            judge,
        }
    }

    /// With another reading of the arguments.
    pub(crate) fn parsed_by(self, parse: Parse<I>) -> Self {
        Self { parse, ..self }
    }
}

impl<I: Send + 'static> Tool for Editing<I> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        arguments: Map<String, Value>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        let (workspace, judge) = (Arc::clone(&self.workspace), self.judge);
        let name = &self.spec.name;
        Box::pin(async move {
            let input = (self.parse)(name, arguments)?;
            tokio::task::spawn_blocking(move || judge(&workspace, &input))
                .await
                .unwrap_or_else(|error| Err(ToolError::new(format!("`{name}` was not run: {error}."))))
        })
    }
}
