//! What is paid for more good answers: arms that no other arm beats in both metrics.

use super::{
    HALF, Plot,
    axes::{Panel, SMALL, Scale, legend, tick_label},
    canvas::{Anchor, Canvas, Place, text_width},
    ink::Ink,
};
use crate::{
    advice::lower_first,
    comparison::{Comparison, named},
    metrics::{Better, Metric},
    record::SweepRecord,
};

/// Good answers against a price.
#[derive(Debug)]
pub(crate) struct Frontier {
    name: &'static str,
    price: &'static str,
}

/// An arm in the picture.
#[derive(Clone, Copy, Debug)]
struct Spot {
    arm: usize,
    place: usize,
    price: f64,
    good: f64,
}

impl Frontier {
    /// Against p99 latency.
    pub(crate) const LATENCY: Self = Self {
        name: "frontier-latency",
        price: "latency_p99_ms",
    };
    /// Against the load on providers.
    pub(crate) const LOAD: Self = Self {
        name: "frontier-load",
        price: "attempts_per_request",
    };

    fn price(&self) -> &'static dyn Metric {
        named(self.price)
    }

    fn spots(&self, comparison: &Comparison<'_>) -> Vec<Spot> {
        let places = comparison.ranking().into_iter().enumerate();
        let spot = |(index, arm): (usize, usize)| {
            let price = comparison.mean(arm, self.price())?;
            let good = comparison.mean(arm, comparison.primary)?;
            Some(Spot {
                arm,
                place: index + 1,
                price,
                good,
            })
        };
        places.filter_map(spot).collect()
    }
}

impl Plot for Frontier {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self, sweep: &SweepRecord) -> String {
        format!(
            "{} against {}",
            Comparison::new(sweep).primary.title(),
            lower_first(self.price().title())
        )
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let comparison = Comparison::new(sweep);
        let spots = self.spots(&comparison);
        let front = front(&spots);
        format!(
            "Up and to the left is better. The line joins the {} of {} arms that no other arm beats in \
             both, by their means; every other arm can be improved on without paying for it. Numbers \
             are places in the table.",
            front.len(),
            spots.len()
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        let spots = self.spots(&Comparison::new(sweep));
        let differ = spots
            .iter()
            .any(|spot| (spot.price - spots[0].price).abs() > 1e-9);
        (spots.len() > 2 && differ).then_some((HALF, 400))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let comparison = Comparison::new(sweep);
        let spots = self.spots(&comparison);
        let panel = panel(&spots, self.price(), comparison.primary);
        let entries = [
            (Ink::Best, "not beaten in both".to_owned()),
            (Ink::Reference, "reference".into()),
            (Ink::Other, "other arms".into()),
        ];
        legend(canvas, (panel.left, 14.0), panel.right, &entries);
        panel.draw(canvas);
        panel.name_y(canvas, comparison.primary.title());
        panel.name_x(canvas, self.price().title());
        let front = front(&spots);
        let line: Vec<Place> = front
            .iter()
            .map(|spot| panel.place(spot.price, spot.good))
            .collect();
        canvas.line(&line, Ink::Best, 1.5);
        let is_front = |spot: &Spot| front.iter().any(|one| one.arm == spot.arm);
        let mut labels = Labels {
            taken: Vec::new(),
            within: (panel.left, panel.right),
        };
        for spot in spots.iter().rev() {
            let ink = match spot {
                spot if spot.arm == sweep.reference => Ink::Reference,
                spot if is_front(spot) => Ink::Best,
                _ => Ink::Other,
            };
            let at = panel.place(spot.price, spot.good);
            canvas.dot(at, if ink == Ink::Other { 3.5 } else { 5.0 }, ink);
            labels
                .taken
                .push((at.0 - 5.0, at.1 - 5.0, at.0 + 5.0, at.1 + 5.0));
        }
        let named = |spot: &&Spot| {
            is_front(spot) || spot.arm == sweep.reference || spot.place == spots.len()
        };
        for spot in spots.iter().filter(named) {
            let ink = if spot.arm == sweep.reference {
                Ink::Reference
            } else {
                Ink::Text
            };
            let at = panel.place(spot.price, spot.good);
            labels.write(canvas, at, ink, &spot.place.to_string());
        }
    }
}

/// Arms that no other beats: at least as good in both metrics and better in one. By price.
fn front(spots: &[Spot]) -> Vec<Spot> {
    let beats = |one: &Spot, other: &Spot| {
        one.price <= other.price
            && one.good >= other.good
            && (one.price < other.price || one.good > other.good)
    };
    let mut front: Vec<Spot> = spots
        .iter()
        .filter(|spot| !spots.iter().any(|other| beats(other, spot)))
        .copied()
        .collect();
    front.sort_by(|a, b| a.price.total_cmp(&b.price).then(a.place.cmp(&b.place)));
    front
}

fn panel(spots: &[Spot], price: &dyn Metric, good: &dyn Metric) -> Panel {
    debug_assert!(price.better() == Better::Lower && good.better() == Better::Higher);
    let extent = |of: fn(&Spot) -> f64| {
        let values = spots.iter().map(of);
        (
            values.clone().fold(f64::INFINITY, f64::min),
            values.fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let ((x_low, x_high), (y_low, y_high)) = (extent(|spot| spot.price), extent(|spot| spot.good));
    let (price_unit, good_unit) = (price.unit(), good.unit());
    Panel {
        left: 64.0,
        top: 58.0,
        right: f64::from(HALF) - 20.0,
        bottom: 350.0,
        x: Scale::linear(x_low, x_high, 6, |value| tick_label(price_unit, value)),
        y: Scale::linear(y_low, y_high, 5, |value| tick_label(good_unit, value)),
    }
}

/// Puts words beside dots where nothing else is.
struct Labels {
    /// Left, top, right and bottom of what is there already.
    taken: Vec<(f64, f64, f64, f64)>,
    within: (f64, f64),
}

impl Labels {
    fn write(&mut self, canvas: &mut Canvas<'_>, at: Place, ink: Ink, text: &str) {
        let width = text_width(text, SMALL) + 2.0;
        let boxed = |x: f64, y: f64| (x, y - 7.0, x + width, y + 7.0);
        let spots = [
            boxed(at.0 + 8.0, at.1 - 9.0),
            boxed(at.0 - 8.0 - width, at.1 - 9.0),
            boxed(at.0 + 8.0, at.1 + 10.0),
            boxed(at.0 - 8.0 - width, at.1 + 10.0),
            boxed(at.0 - width / 2.0, at.1 - 16.0),
            boxed(at.0 - width / 2.0, at.1 + 17.0),
        ];
        let free = spots.into_iter().find(|place| self.is_free(*place));
        // With no room anywhere, no label is better than two on top of each other.
        let Some(place) = free else { return };
        canvas.bold(
            (place.0, f64::midpoint(place.1, place.3)),
            Anchor::Left,
            SMALL,
            ink,
            text,
        );
        self.taken.push(place);
    }

    fn is_free(&self, place: (f64, f64, f64, f64)) -> bool {
        let is_inside = place.0 >= self.within.0 && place.2 <= self.within.1;
        let meets = |other: &(f64, f64, f64, f64)| {
            place.0 < other.2 && other.0 < place.2 && place.1 < other.3 && other.1 < place.3
        };
        is_inside && !self.taken.iter().any(meets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(place: usize, price: f64, good: f64) -> Spot {
        Spot {
            arm: place,
            place,
            price,
            good,
        }
    }

    #[test]
    fn an_arm_is_on_the_front_if_none_is_at_least_as_good_in_both() {
        let spots = [
            spot(1, 5.0, 0.9),
            spot(2, 3.0, 0.8),
            spot(3, 4.0, 0.7),
            spot(4, 5.0, 0.85),
            spot(5, 1.0, 0.1),
        ];

        let places: Vec<usize> = front(&spots).iter().map(|spot| spot.place).collect();
        assert_eq!(places, [5, 2, 1]);
    }

    #[test]
    fn equal_arms_are_both_on_the_front() {
        assert_eq!(front(&[spot(1, 1.0, 1.0), spot(2, 1.0, 1.0)]).len(), 2);
    }
}
