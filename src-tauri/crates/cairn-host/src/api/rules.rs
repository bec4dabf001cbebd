//! `rule/…` and `trust/…`.

use cairn_policy::{Rule, RuleOrigin};
use cairn_protocol::{
    ApiError, ErrorCode, RuleListResult, RuleMeaning, RuleParams, RuleTextParams, TrustParams, TrustView,
};

use super::Window;

impl Window {
    pub(super) async fn list_rules(&self) -> RuleListResult {
        self.host.listed_rules(&self.project).await
    }

    pub(super) fn check_rule(params: &RuleTextParams) -> Result<RuleMeaning, ApiError> {
        let text = params.rule.trim();
        let rule: Rule = text
            .parse()
            .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("This is not a rule: {error}.")))?;
        Ok(RuleMeaning {
            rule: rule.to_string(),
            meaning: rule.meaning(),
        })
    }

    pub(super) async fn add_rule(&self, params: &RuleTextParams) -> Result<RuleListResult, ApiError> {
        self.host.project_rules(&self.project).add(
            params.rule.trim(),
            RuleOrigin::Settings,
            self.host.world().now(),
        )?;
        self.host.rules_changed(&self.project).await;
        Ok(self.list_rules().await)
    }

    pub(super) async fn revoke_rule(&self, params: RuleParams) -> Result<RuleListResult, ApiError> {
        match &params.session {
            None => {
                self.host.project_rules(&self.project).revoke(&params.rule)?;
                self.host.rules_changed(&self.project).await;
            }
            Some(id) => {
                let session = self.session(id).await?;
                let (rule, scope) = (params.rule, params.scope);
                let forget = session.handle.change_policy(move |policy| {
                    let is_it = |granted: &cairn_policy::Granted| {
                        granted.scope == scope && granted.rule.to_string() == rule
                    };
                    policy.rules.allow.retain(|granted| !is_it(granted));
                });
                forget.await?;
            }
        }
        Ok(self.list_rules().await)
    }

    pub(super) fn trust_view(&self) -> TrustView {
        self.host.trust_view(&self.project)
    }

    pub(super) async fn give_trust(&self, params: &TrustParams) -> Result<TrustView, ApiError> {
        self.host.trust(&self.project, &params.digest).await
    }

    pub(super) async fn withdraw_trust(&self) -> Result<TrustView, ApiError> {
        self.host.withdraw_trust(&self.project).await
    }
}
