use proptest::prelude::*;

use super::*;

#[test]
fn an_id_that_fits_is_sent_as_it_is_and_two_never_become_one() {
    let mut ids = WireIds::new(IdForm::Plain(20));
    assert_eq!(ids.wire("toolu_01"), "toolu_01");
    let (one, two) = (ids.wire("a.b"), ids.wire("a:b"));
    assert!(one != two && ids.wire("a.b") == one);
}

#[test]
fn a_part_of_an_entry_is_found_and_of_many_only_the_message() {
    let mut trace = Trace::default();
    trace.entry(vec![]);
    trace.entry(vec![place(0, 0), place(1, 0)]);
    trace.entry(vec![place(4, 2)]);
    assert_eq!(trace.place(0, None), None);
    assert_eq!(trace.place(1, Some(1)), Some(place(1, 0)));
    assert_eq!(
        trace.place(1, None),
        Some(Place {
            message: 0,
            part: None
        })
    );
    assert_eq!(trace.place(2, Some(7)), Some(place(4, 2)));
    assert_eq!(trace.place(9, None), None);
}

proptest! {
    #[test]
    fn m7_ids_of_any_form_fit_and_stay_apart(ids in proptest::collection::btree_set(".{0,90}", 1..20), nine in any::<bool>()) {
        let form = if nine { IdForm::Nine } else { IdForm::Plain(64) };
        let mut wire = WireIds::new(form);
        let sent: Vec<String> = ids.iter().map(|id| wire.wire(id)).collect();
        let apart: HashSet<&String> = sent.iter().collect();
        prop_assert_eq!(apart.len(), ids.len());
        for id in &sent {
            let fits = |c: char| c.is_ascii_alphanumeric() || (!nine && matches!(c, '_' | '-'));
            prop_assert!(!id.is_empty() && id.len() <= 64 && id.chars().all(fits), "{}", id);
            prop_assert!(!nine || id.len() == 9);
        }
    }
}
