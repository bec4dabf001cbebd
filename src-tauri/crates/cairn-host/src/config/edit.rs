//! Changing the file: comments, order and unknown keys stay as they are.

use cairn_protocol::{Api, ApiError, ErrorCode, Mode, ProfileParams, SettingsSetParams};
use toml_edit::{Item, Table, Value, value};

use super::Config;
use crate::environment::Environment;

impl Config {
    /// Changes appearance and defaults, saves, and gives the configuration as it then holds.
    pub(crate) fn with_settings(
        &self,
        change: &SettingsSetParams,
        environment: &Environment,
    ) -> Result<Self, ApiError> {
        if matches!(change.default_mode, Some(Mode::Auto | Mode::Plan)) {
            return Err(bad(
                "New sessions begin in Manual or Accept edits, never in another mode.",
            ));
        }
        self.edited(environment, |document| {
            if let Some(theme) = change.theme {
                put(document, &["ui", "theme"], text_of(&theme)?)?;
            }
            if let Some(profile) = &change.default_profile {
                put(document, &["default_profile"], profile.into())?;
            }
            if let Some(mode) = change.default_mode {
                put(document, &["permissions", "default_mode"], text_of(&mode)?)?;
            }
            if let Some(reading) = change.reading {
                put(document, &["permissions", "reading"], text_of(&reading)?)?;
            }
            Ok(())
        })
    }

    /// Saves a profile under its name; keys it does not speak of stay.
    pub(crate) fn with_profile(
        &self,
        profile: &ProfileParams,
        environment: &Environment,
    ) -> Result<Self, ApiError> {
        check_profile(profile)?;
        self.edited(environment, |document| {
            let name = profile.name.as_str();
            put(document, &["profiles", name, "api"], text_of(&profile.api)?)?;
            put(
                document,
                &["profiles", name, "base_url"],
                profile.base_url.trim().trim_end_matches('/').into(),
            )?;
            put(
                document,
                &["profiles", name, "model"],
                profile.model.trim().into(),
            )?;
            let number = |n: u64| Value::from(i64::try_from(n).unwrap_or(i64::MAX));
            put_or_remove(
                document,
                &["profiles", name, "context_window"],
                profile.context_window.map(number),
            )?;
            put_or_remove(
                document,
                &["profiles", name, "max_output_tokens"],
                profile.max_output_tokens.map(number),
            )?;
            put_or_remove(
                document,
                &["profiles", name, "temperature"],
                profile.temperature.map(Value::from),
            )?;
            let effort = profile.effort.as_ref().map(text_of).transpose()?;
            put_or_remove(document, &["profiles", name, "effort"], effort)?;
            put_or_remove(
                document,
                &["profiles", name, "keep_alive"],
                profile.keep_alive.as_deref().map(Value::from),
            )?;
            put_prices(document, name, profile)?;
            if profile.make_default {
                put(document, &["default_profile"], name.into())?;
            }
            Ok(())
        })
    }

    /// Notes how many tokens a profile's model can hold.
    pub(crate) fn with_window(
        &self,
        name: &str,
        tokens: u64,
        environment: &Environment,
    ) -> Result<Self, ApiError> {
        if self.profile(name).is_none() {
            return Err(no_profile(name));
        }
        if !(1_024..=100_000_000).contains(&tokens) {
            return Err(bad("A context window has 1,024 to 100,000,000 tokens."));
        }
        self.edited(environment, |document| {
            let number = Value::from(i64::try_from(tokens).unwrap_or(i64::MAX));
            put(document, &["profiles", name, "context_window"], number)
        })
    }

    /// Deletes a profile.
    pub(crate) fn without_profile(&self, name: &str, environment: &Environment) -> Result<Self, ApiError> {
        if self.profile(name).is_none() {
            return Err(no_profile(name));
        }
        self.edited(environment, |document| {
            if let Some(profiles) = document.get_mut("profiles").and_then(Item::as_table_like_mut) {
                profiles.remove(name);
            }
            if document.get("default_profile").and_then(Item::as_str) == Some(name) {
                document.remove("default_profile");
            }
            Ok(())
        })
    }

    fn edited(
        &self,
        environment: &Environment,
        change: impl FnOnce(&mut Table) -> Result<(), ApiError>,
    ) -> Result<Self, ApiError> {
        // The file may have been edited by hand since it was read: what is there now is changed, not what was.
        let mut now = Self::load(&self.path, environment);
        if now.broken.is_none() {
            change(now.document.as_table_mut())?;
        }
        now.save()?;
        Ok(Self::load(&self.path, environment))
    }
}

fn no_profile(name: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("There is no profile `{name}`."))
}

fn bad(text: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, text)
}

/// The word that serde writes for a unit variant.
fn text_of<T: serde::Serialize>(word: &T) -> Result<Value, ApiError> {
    match serde_json::to_value(word) {
        Ok(serde_json::Value::String(word)) => Ok(word.into()),
        _ => Err(ApiError::new(
            ErrorCode::Internal,
            "A setting has no word in the file.",
        )),
    }
}

/// What no saved profile may lack.
fn check_profile(profile: &ProfileParams) -> Result<(), ApiError> {
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if profile.name.is_empty() || profile.name.len() > 64 || !profile.name.chars().all(fine) {
        return Err(bad("A profile's name has 1 to 64 letters, digits, `-` or `_`."));
    }
    if profile.name == "demo" {
        return Err(bad("`demo` is the built-in script; choose another name."));
    }
    if profile.api == Api::Gguf && !std::path::Path::new(profile.model.trim()).is_absolute() {
        return Err(bad(
            "Give the whole path of the model file, like `/home/you/models/qwen3-8b.gguf`.",
        ));
    }
    if !matches!(profile.api, Api::Demo | Api::Gguf) {
        cairn_models::address::Address::parse(&profile.base_url).map_err(|error| bad(&error.to_string()))?;
        if profile.model.trim().is_empty() {
            return Err(bad("Name the model that the server should use."));
        }
    }
    Ok(())
}

fn put_prices(document: &mut Table, name: &str, profile: &ProfileParams) -> Result<(), ApiError> {
    for (key, price) in [
        ("input", profile.prices.map(|prices| prices.input)),
        ("cached", profile.prices.map(|prices| prices.cached)),
        (
            "cache_write",
            profile.prices.and_then(|prices| prices.cache_write),
        ),
        ("output", profile.prices.map(|prices| prices.output)),
    ] {
        put_or_remove(
            document,
            &["profiles", name, "prices", key],
            price.map(Value::from),
        )?;
    }
    Ok(())
}

fn put(table: &mut Table, path: &[&str], new: Value) -> Result<(), ApiError> {
    let Some((last, parents)) = path.split_last() else {
        return Ok(());
    };
    let mut here: &mut dyn toml_edit::TableLike = table;
    for parent in parents {
        let inner = here.entry(parent).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        here = inner.as_table_like_mut().ok_or_else(|| {
            bad(&format!(
                "`{parent}` in config.toml is not a table; mend it by hand, then try again."
            ))
        })?;
    }
    match here.get_mut(last) {
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = new;
            *old.decor_mut() = decor;
        }
        _ => {
            here.insert(last, value(new));
        }
    }
    Ok(())
}

fn put_or_remove(table: &mut Table, path: &[&str], new: Option<Value>) -> Result<(), ApiError> {
    if let Some(new) = new {
        return put(table, path, new);
    }
    let Some((last, parents)) = path.split_last() else {
        return Ok(());
    };
    let mut here: &mut dyn toml_edit::TableLike = table;
    for parent in parents {
        match here.get_mut(parent).and_then(Item::as_table_like_mut) {
            Some(inner) => here = inner,
            None => return Ok(()),
        }
    }
    here.remove(last);
    Ok(())
}
