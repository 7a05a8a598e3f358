//! Colours by meaning, each in a light and a dark form.
//!
//! A drawing is written in the light form, so that any program shows it. Style rules that match the
//! colour's own attribute replace it where dark is preferred ([`dark_rules`]); a plot itself never
//! asks which of the two it is in.

/// What a mark stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    /// Words and numbers that matter.
    Text,
    /// Scales and side remarks.
    Muted,
    /// Lines to read values by.
    Grid,
    /// What lies behind everything.
    Paper,
    /// The best arm; completed requests.
    Best,
    /// The reference arm.
    Reference,
    /// The worst arm; failures.
    Worst,
    /// Any other arm.
    Other,
    /// Time in cooldown.
    Cooled,
    /// Attempts sent.
    Sent,
    /// A step of the scale from bad (0) to good ([`Ink::HEAT_STEPS`] − 1).
    Heat(u8),
    /// Words on a low step of that scale.
    OnLowHeat,
    /// Words on a high step.
    OnHighHeat,
}

impl Ink {
    pub(crate) const HEAT_STEPS: u8 = 7;

    /// The step of a share from 0 (bad) to 1 (good).
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the share is clamped to 0 … 1 first"
    )]
    pub(crate) fn heat(share: f64) -> Self {
        let step = (share.clamp(0.0, 1.0) * f64::from(Self::HEAT_STEPS)).floor() as u8;
        Self::Heat(step.min(Self::HEAT_STEPS - 1))
    }

    /// The ink of words on this one.
    pub(crate) const fn words(self) -> Self {
        let Self::Heat(step) = self else {
            return Self::Text;
        };
        if step >= 5 {
            Self::OnHighHeat
        } else {
            Self::OnLowHeat
        }
    }

    /// Red, green and blue on light and on dark paper.
    pub(crate) const fn forms(self) -> (u32, u32) {
        match self {
            Self::Text => (0x1d_2328, 0xe6_e9ec),
            Self::Muted => (0x5c_6770, 0xa0_abb4),
            Self::Grid => (0xe2_e6ea, 0x2e_353b),
            Self::Paper => (0xff_ffff, 0x14_181b),
            Self::Best => (0x0a_7d62, 0x3f_c9a2),
            Self::Reference => (0x3b_5bb5, 0x8f_abf5),
            Self::Worst => (0xc2_410c, 0xff_8a5c),
            Self::Other => (0x9a_a5ae, 0x6a_757e),
            Self::Cooled => (0x4f_9fd8, 0x5f_b1ea),
            Self::Sent => (0x8b_97a1, 0x7c_8892),
            Self::Heat(0) => (0xf6_e3d8, 0x43_2a20),
            Self::Heat(1) => (0xf3_efe9, 0x3a_332c),
            Self::Heat(2) => (0xe3_efe9, 0x2a_3a34),
            Self::Heat(3) => (0xbc_dfd2, 0x23_4f43),
            Self::Heat(4) => (0x7f_c2ad, 0x24_6c5a),
            Self::Heat(5) => (0x1f_8068, 0x33_9c7f),
            Self::Heat(_) => (0x0a_6b55, 0x46_cca6),
            Self::OnLowHeat => (0x1d_2329, 0xe6_e9ed),
            Self::OnHighHeat => (0xff_fffe, 0x0b_1512),
        }
    }

    const fn all() -> [Self; 19] {
        [
            Self::Text,
            Self::Muted,
            Self::Grid,
            Self::Paper,
            Self::Best,
            Self::Reference,
            Self::Worst,
            Self::Other,
            Self::Cooled,
            Self::Sent,
            Self::Heat(0),
            Self::Heat(1),
            Self::Heat(2),
            Self::Heat(3),
            Self::Heat(4),
            Self::Heat(5),
            Self::Heat(6),
            Self::OnLowHeat,
            Self::OnHighHeat,
        ]
    }
}

/// Style rules that give every ink its dark form.
pub(crate) fn dark_rules() -> String {
    let mut rules = String::new();
    for ink in Ink::all() {
        let (light, dark) = ink.forms();
        for attribute in ["fill", "stroke"] {
            rules.push_str(&format!(
                "svg [{attribute}=\"#{light:06X}\"]{{{attribute}:#{dark:06x}}}"
            ));
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Relative luminance by WCAG 2.2.
    fn luminance(colour: u32) -> f64 {
        let part = |shift: u32| {
            let share = f64::from((colour >> shift) & 0xff) / 255.0;
            match share <= 0.040_45 {
                true => share / 12.92,
                false => libm::pow((share + 0.055) / 1.055, 2.4),
            }
        };
        0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_ink_has_a_light_form_of_its_own_to_be_matched_by() {
        let forms: BTreeSet<u32> = Ink::all().iter().map(|ink| ink.forms().0).collect();

        assert_eq!(forms.len(), Ink::all().len());
    }

    #[test]
    fn words_can_be_read_on_paper_and_on_every_step_of_the_heat_scale() {
        let (paper_light, paper_dark) = Ink::Paper.forms();
        for ink in [Ink::Text, Ink::Muted, Ink::Best, Ink::Reference, Ink::Worst] {
            let (light, dark) = ink.forms();
            assert!(
                contrast(light, paper_light) >= 4.5,
                "{ink:?} on light paper"
            );
            assert!(contrast(dark, paper_dark) >= 4.5, "{ink:?} on dark paper");
        }
        for step in 0..Ink::HEAT_STEPS {
            let (ground, words) = (Ink::Heat(step).forms(), Ink::Heat(step).words().forms());
            let (light, dark) = (contrast(ground.0, words.0), contrast(ground.1, words.1));
            assert!(
                light >= 4.5 && dark >= 4.5,
                "step {step}: {light:.1} light, {dark:.1} dark"
            );
        }
    }

    #[test]
    fn the_best_value_is_at_the_top_of_the_scale() {
        assert_eq!(Ink::heat(0.0), Ink::Heat(0));
        assert_eq!(Ink::heat(1.0), Ink::Heat(6));
        assert_eq!(Ink::heat(f64::NAN), Ink::Heat(0));
    }
}
