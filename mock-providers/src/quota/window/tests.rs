//! What each kind of window lets through, what it tells of itself, and when it frees.

use super::*;

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

fn admit(window: &mut Window, at: Instant, amount: u64) -> bool {
    window.advance(at);
    let fits = window.fits(amount);
    if fits {
        window.take(amount);
    }
    fits
}

const MINUTE_NS: u64 = 60_000_000_000;

#[test]
fn a_fixed_window_lets_twice_its_limit_through_across_an_edge_and_no_more() {
    let mut window = Window::Fixed(Fixed::new(100, MINUTE_NS, Epoch::from_unix_seconds(30)));

    let before = (0..150)
        .filter(|_| admit(&mut window, at(29.999), 1))
        .count();
    let after = (0..150).filter(|_| admit(&mut window, at(30.0), 1)).count();

    assert_eq!((before, after), (100, 100));
}

#[test]
fn a_sliding_window_has_no_burst_at_an_edge_and_forgets_within_a_sixtieth() {
    let mut window = Window::Sliding(Sliding::new(100, MINUTE_NS));

    let first = (0..150)
        .filter(|_| admit(&mut window, at(59.999), 1))
        .count();
    assert_eq!(first, 100);
    assert!(!admit(&mut window, at(60.0), 1));
    assert!(
        !admit(&mut window, at(119.999), 1),
        "exactly a minute later it still counts"
    );
    assert!(
        admit(&mut window, at(121.0), 1),
        "and a sixtieth later it does not"
    );
}

#[test]
fn a_bucket_gives_its_burst_at_once_and_then_its_rate_exactly() {
    let mut window = Window::Bucket(Bucket::new(60, 5));

    assert_eq!((0..9).filter(|_| admit(&mut window, at(0.0), 1)).count(), 5);
    assert!(!admit(
        &mut window,
        Instant::from_nanos(1_000_000_000 - 1),
        1
    ));
    assert!(admit(&mut window, Instant::from_nanos(1_000_000_000), 1));
    assert_eq!(window.frees(at(1.0), 1), Some(at(2.0)));
}

#[test]
fn a_bucket_whose_rate_does_not_divide_a_minute_frees_at_the_first_full_nanosecond() {
    let mut window = Window::Bucket(Bucket::new(7, 1));
    assert!(admit(&mut window, at(0.0), 1));

    // A seventh of a minute is 8,571,428,571.43 ns.
    let free = window.frees(at(0.0), 1).unwrap();
    assert_eq!(free, Instant::from_nanos(8_571_428_572));
    assert!(!admit(&mut window, Instant::from_nanos(8_571_428_571), 1));
    assert!(admit(&mut window, free, 1));
}

#[test]
fn what_is_more_than_the_limit_never_fits() {
    for mut window in [
        Window::Fixed(Fixed::new(10, MINUTE_NS, Epoch::default())),
        Window::Sliding(Sliding::new(10, MINUTE_NS)),
        Window::Bucket(Bucket::new(60, 10)),
    ] {
        window.advance(at(1.0));
        assert_eq!(window.frees(at(1.0), 11), None);
    }
}

/// What is left, and when all of it is free again.
fn gauge(window: &Window, now: Instant) -> (u64, Instant) {
    (window.remaining(), window.resets(now))
}

#[test]
fn a_fixed_window_is_whole_again_at_its_edge_and_now_if_nothing_is_used() {
    let mut window = Window::Fixed(Fixed::new(100, MINUTE_NS, Epoch::from_unix_seconds(30)));
    window.advance(at(1.5));
    assert_eq!(gauge(&window, at(1.5)), (100, at(1.5)));

    window.take(40);
    assert_eq!(gauge(&window, at(1.5)), (60, at(30.0)));
    assert_eq!(window.frees(at(1.5), 60), Some(at(1.5)));
    assert_eq!(window.frees(at(1.5), 61), Some(at(30.0)));
}

#[test]
fn a_fixed_window_finds_its_edge_again_after_a_pause_of_several_windows() {
    let mut window = Window::Fixed(Fixed::new(10, MINUTE_NS, Epoch::default()));
    window.advance(at(1.0));
    window.take(10);

    window.advance(at(200.0));
    window.take(10);
    assert_eq!(gauge(&window, at(200.0)), (0, at(240.0)));
    assert!(!admit(&mut window, at(239.9), 1));
    assert!(admit(&mut window, at(240.0), 10));
}

#[test]
fn a_sliding_window_is_whole_again_when_the_last_of_its_uses_has_left() {
    let mut window = Window::Sliding(Sliding::new(100, MINUTE_NS));
    window.advance(at(0.5));
    assert_eq!(gauge(&window, at(0.5)), (100, at(0.5)));

    window.take(30);
    window.advance(at(20.5));
    window.take(50);
    window.advance(at(25.5));
    // Used in the seconds from 0 and from 20, each of which leaves 61 s after it began.
    assert_eq!(gauge(&window, at(25.5)), (20, at(81.0)));
    window.advance(at(61.0));
    assert_eq!(gauge(&window, at(61.0)), (50, at(81.0)));
    window.advance(at(81.0));
    assert_eq!(gauge(&window, at(81.0)), (100, at(81.0)));
}

#[test]
fn a_sliding_window_frees_as_its_uses_leave_from_the_oldest_on() {
    let mut window = Window::Sliding(Sliding::new(100, MINUTE_NS));
    for (second, amount) in [(0.5, 30), (20.5, 50), (40.5, 20)] {
        assert!(admit(&mut window, at(second), amount));
    }
    let now = at(40.5);

    assert_eq!(window.frees(now, 30), Some(at(61.0)));
    assert_eq!(window.frees(now, 31), Some(at(81.0)));
    assert_eq!(window.frees(now, 80), Some(at(81.0)));
    assert_eq!(window.frees(now, 100), Some(at(101.0)));
    assert!(!admit(&mut window, at(80.9), 31));
    assert!(admit(&mut window, at(81.0), 31));
}

#[test]
fn a_bucket_is_full_again_when_what_is_missing_has_flowed_in() {
    let mut window = Window::Bucket(Bucket::new(60, 10));
    window.advance(at(0.0));
    assert_eq!(gauge(&window, at(0.0)), (10, at(0.0)));

    window.take(8);
    window.advance(at(1.5));
    // Three and a half are there, and one comes a second.
    assert_eq!(gauge(&window, at(1.5)), (3, at(8.0)));
    assert_eq!(window.frees(at(1.5), 5), Some(at(3.0)));
}

#[test]
fn a_share_of_a_limit_is_rounded_down_and_never_nothing_and_one_is_all_of_it() {
    assert_eq!(scaled(10, 0.25), 2);
    assert_eq!(scaled(10, 0.01), 1);
    assert_eq!(scaled(1_000_000_000_000, 1.0), 1_000_000_000_000);
}
