//! All rules that hold, as the settings page and `cairn allow list` show them. SPEC P7.

use cairn_policy::{Granted, RuleOrigin, RuleSet};
use cairn_protocol::{ListedRule, RuleEffect, RuleListResult, RuleScope, Session};

use crate::host::Host;
use crate::project::Project;

impl Host {
    /// The rules of a project and of its open sessions, and why none of them allows anything where that is so.
    pub async fn listed_rules(&self, project: &Project) -> RuleListResult {
        let set = self.rules_of(project);
        let problem = set.broken.as_ref().map(|broken| {
            format!("{broken}. No rule lets anything run until this is mended: everything asks.")
        });
        let mut rules = of_the_project(&set);
        for session in self.open_of(&project.key).await {
            let Ok(seen) = session.handle.snapshot().await else {
                continue;
            };
            let (sender, granted) = tokio::sync::oneshot::channel();
            let asked = session.handle.change_policy(move |policy| {
                // Nobody waits any more when the page is gone.
                sender.send(policy.rules.allow.clone()).unwrap_or_default();
            });
            if asked.await.is_ok()
                && let Ok(granted) = granted.await
            {
                let own = granted
                    .iter()
                    .filter(|granted| granted.scope != RuleScope::Project);
                rules.extend(own.map(|granted| of_a_session(granted, &seen.session)));
            }
        }
        RuleListResult { rules, problem }
    }
}

fn of_the_project(set: &RuleSet) -> Vec<ListedRule> {
    let lists = [
        (RuleEffect::Deny, &set.deny),
        (RuleEffect::Ask, &set.ask),
        (RuleEffect::Allow, &set.allow),
    ];
    let each = |(effect, list): (RuleEffect, &Vec<Granted>)| {
        list.iter()
            .map(move |granted| listed(effect, granted))
            .collect::<Vec<_>>()
    };
    lists.into_iter().flat_map(each).collect()
}

fn listed(effect: RuleEffect, granted: &Granted) -> ListedRule {
    ListedRule {
        saved: granted.saved(),
        effect,
        meaning: granted.rule.meaning(),
        session: None,
        session_title: None,
        revocable: !matches!(granted.origin, RuleOrigin::Config | RuleOrigin::Project),
    }
}

fn of_a_session(granted: &Granted, session: &Session) -> ListedRule {
    ListedRule {
        session: Some(session.id.clone()),
        session_title: Some(session.title.clone()),
        ..listed(RuleEffect::Allow, granted)
    }
}
