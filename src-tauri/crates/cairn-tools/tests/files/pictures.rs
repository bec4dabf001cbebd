//! `read_file` on pictures: how they are told apart; the decoding itself is tested where it is done.

use super::fixture::{Project, done, refused};

/// A 1 × 1 PNG.
pub(super) const DOT: &[u8] = &[
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00,
    0x00, 0x00, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x60, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01,
    0x48, 0xAF, 0xA4, 0x71, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
];

#[test]
fn x11_a_picture_comes_back_as_one_whatever_its_name() {
    let project = Project::with("picture.txt", DOT);
    let outcome = project.read("picture.txt");
    done(&outcome);
    assert_eq!((outcome.pictures.len(), outcome.note.as_str()), (1, "1 \u{d7} 1"));
    assert!(
        outcome.content.contains("PNG picture") && outcome.content.contains("attached"),
        "{}",
        outcome.content
    );
}

#[test]
fn x11_a_model_without_vision_gets_a_sentence_and_the_person_the_picture() {
    let mut project = Project::with("a.png", DOT);
    project.vision = false;
    let outcome = project.read("a.png");
    done(&outcome);
    assert!(outcome.pictures.is_empty() && outcome.blocks.len() == 1);
    assert!(
        outcome.content.contains("You cannot see pictures"),
        "{}",
        outcome.content
    );
}

#[test]
fn i1_x11_text_svg_broken_and_huge_ones_give_a_text_answer() {
    let project = Project::with("a.png", "only text\n");
    assert!(project.read("a.png").content.starts_with("1\tonly text"));
    project.put("fake.png", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
    assert!(project.read("fake.png").content.starts_with("1\t<svg"));
    project.put("cut.png", &DOT[..45]);
    refused(&project.read("cut.png"), "cannot be shown as a picture");
    let mut huge = DOT.to_vec();
    huge[16..24].copy_from_slice(&[0, 0, 0x4E, 0x20, 0, 0, 0x4E, 0x20]);
    project.put("huge.png", &huge);
    refused(&project.read("huge.png"), "20000 \u{d7} 20000");
}
