//! The page and its pictures.

use reports::{page, plots};

use crate::sweeps::{sweep, with_only};

#[test]
fn the_page_has_its_parts_in_the_order_of_reading() {
    insta::assert_snapshot!(outline(&page(&sweep(10, 1_500)).unwrap()));
}

#[test]
fn the_page_asks_nothing_of_the_network_and_has_one_script_of_its_own() {
    let page = page(&sweep(2, 200)).unwrap();
    let (page, script) = page.split_once("<script>").unwrap();
    let page = page.replace("href=\"#main\"", "");

    assert!(
        script.ends_with("</script></body></html>\n"),
        "it comes last"
    );
    for forbidden in ["fetch", "XMLHttp", "import", "innerHTML", "eval", "<script"] {
        assert!(!script.contains(forbidden), "{forbidden}");
    }

    for forbidden in [
        "<script",
        "src=",
        "href=",
        "@import",
        "url(",
        "<link",
        "<img",
        "javascript:",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let addresses = page.matches("http://").count() + page.matches("https://").count();
    assert_eq!(
        addresses,
        page.matches("http://www.w3.org/2000/svg").count()
    );
}

#[test]
fn what_a_file_says_is_text_on_the_page() {
    let hostile = "<script>alert(1)</script>\"'&|`";
    let mut sweep = with_only(&sweep(2, 200), &["1", "60"]);
    for text in [
        &mut sweep.title,
        &mut sweep.purpose,
        &mut sweep.command,
        &mut sweep.version,
        &mut sweep.profile,
        &mut sweep.scenario_text,
    ] {
        *text = hostile.to_owned();
    }
    sweep.axes[0].name = hostile.into();
    sweep.axes[0].values[0] = hostile.into();
    sweep.notes.push(hostile.into());
    sweep.ignored.push(hostile.into());
    for arm in &mut sweep.arms {
        let is_first = arm.labels[0].1 == "simple-shuffle";
        arm.labels[0].0 = hostile.into();
        if is_first {
            arm.labels[0].1 = hostile.into();
        }
        for run in &mut arm.runs {
            for deployment in &mut run.deployments {
                deployment.id = hostile.into();
                deployment.provider = hostile.into();
            }
            run.fault_spans[0].kind = hostile.into();
        }
    }

    let page = page(&sweep).unwrap();
    let drawings = plots::draw_all(&sweep).unwrap();

    assert_eq!(page.matches("<script").count(), 1, "its own");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(
        !reports::markdown(&sweep)
            .replace(&format!("sh\n{hostile}\n"), "")
            .contains("<script")
    );
    for drawing in drawings {
        assert!(
            !drawing.standalone().contains("<script"),
            "{}",
            drawing.name
        );
    }
}

#[test]
fn an_interrupted_sweep_has_a_banner() {
    let mut sweep = sweep(2, 200);
    assert!(!page(&sweep).unwrap().contains("PARTIAL"));

    sweep.partial = true;
    sweep.arms[7].runs.clear();
    sweep.arms[8].runs.clear();

    assert!(
        page(&sweep)
            .unwrap()
            .contains("<p class=\"banner\" role=\"alert\">PARTIAL")
    );
}

#[test]
fn every_picture_shows_what_it_is_about() {
    let sweep = sweep(10, 1_500);
    let expected: [(&str, &[&str]); 9] = [
        (
            "heatmap",
            &["cooldown_time", "num_retries", "least-busy", "60"],
        ),
        (
            "arms",
            &[
                "routing_strategy",
                "latency-based-routing",
                "24",
                "best",
                "reference",
            ],
        ),
        (
            "frontier-latency",
            &["Goodput", "Latency p99", "not beaten in both"],
        ),
        ("frontier-load", &["Attempts", "reference"]),
        (
            "latency",
            &[
                "best: ",
                "reference: simple-shuffle",
                "worst: ",
                "1 %",
                "10 s",
            ],
        ),
        (
            "blame",
            &[
                "Outage",
                "Retries exhausted",
                "of all requests",
                "reference: ",
            ],
        ),
        ("deployments", &["east", "west", "north", "spare", "failed"]),
        (
            "timeline-best",
            &[
                "outage",
                "in cooldown",
                "east",
                "2 min",
                "requests a second",
            ],
        ),
        ("timeline-reference", &["outage", "cooled ", "spare"]),
    ];

    let drawings = plots::draw_all(&sweep).unwrap();

    let names: Vec<&str> = drawings.iter().map(|drawing| drawing.name).collect();
    assert_eq!(names, expected.map(|(name, _)| name));
    for (drawing, (name, wanted)) in drawings.iter().zip(expected) {
        let texts = texts(&drawing.svg);
        for words in wanted {
            assert!(
                texts.iter().any(|text| text.contains(words)),
                "{words} in {name}: {texts:?}"
            );
        }
        assert!(
            !drawing.svg.contains("NaN") && !drawing.svg.contains("inf"),
            "{name}"
        );
        assert!(
            !drawing.svg.contains("<style") && drawing.standalone().contains("<style"),
            "{name}"
        );
        assert!(drawing.svg.trim_end().ends_with("</svg>"), "{name}");
        assert!(
            !drawing.caption.is_empty() && !drawing.title.is_empty(),
            "{name}"
        );
    }
}

#[test]
fn a_picture_stays_on_its_sheet() {
    for drawing in plots::draw_all(&sweep(3, 400)).unwrap() {
        let (_, rest) = drawing.svg.split_once("viewBox=\"0 0 ").unwrap();
        let sides: Vec<f64> = rest
            .split('"')
            .next()
            .unwrap()
            .split(' ')
            .map(number)
            .collect();
        for (attribute, side) in [
            ("x", 0),
            ("x1", 0),
            ("x2", 0),
            ("y", 1),
            ("y1", 1),
            ("cx", 0),
            ("cy", 1),
        ] {
            for value in drawing.svg.split(&format!(" {attribute}=\"")).skip(1) {
                let place = number(value.split('"').next().unwrap());
                let most = sides[side];
                assert!(
                    (0.0..=most).contains(&place),
                    "{attribute}={place} in {}",
                    drawing.name
                );
            }
        }
    }
}

#[test]
fn a_lone_run_has_a_page_without_comparisons() {
    let mut sweep = sweep(1, 200);
    sweep.arms.truncate(1);
    (sweep.axes, sweep.arms[0].labels, sweep.reference) = (Vec::new(), Vec::new(), 0);

    let names: Vec<&str> = plots::draw_all(&sweep)
        .unwrap()
        .iter()
        .map(|drawing| drawing.name)
        .collect();

    assert_eq!(names, ["latency", "blame", "deployments", "timeline-best"]);
    assert!(!page(&sweep).unwrap().contains("vs reference"));
}

#[test]
fn a_run_in_which_everything_fails_still_has_a_page() {
    let mut sweep = sweep(2, 200);
    for run in sweep.arms.iter_mut().flat_map(|arm| &mut arm.runs) {
        run.failed += run.completed;
        (run.completed, run.good) = (0, Some(0));
        (run.latency, run.first_token) = Default::default();
    }

    assert!(page(&sweep).unwrap().contains("0.00 %"));
}

#[test]
fn the_same_sweep_is_the_same_page() {
    assert!(page(&sweep(2, 200)).unwrap() == page(&sweep(2, 200)).unwrap());
}

/// Headings, captions and the beginnings of paragraphs, in order; the number of rows and figures.
fn outline(page: &str) -> String {
    let body = page.split_once("<main ").unwrap().1;
    let body = body.split_once("<script>").unwrap().0;
    let mut lines = Vec::new();
    for tag in body.split('<').skip(1) {
        let (name, text) = tag.split_once('>').unwrap_or((tag, ""));
        if name.contains("scope=\"row\"") {
            continue;
        }
        let name = name.split(' ').next().unwrap();
        let shown = text.trim().chars().take(72).collect::<String>();
        if [
            "h1",
            "h2",
            "h3",
            "p",
            "figcaption",
            "dt",
            "summary",
            "strong",
            "th",
        ]
        .contains(&name)
        {
            lines.push(format!("{name}: {shown}"));
        }
    }
    let count = |what: &str| body.matches(what).count();
    lines.push(format!(
        "{} rows, {} figures",
        count("<tr"),
        count("<figure")
    ));
    lines.join("\n")
}

/// Contents of the text elements.
fn texts(svg: &str) -> Vec<String> {
    let inner = |part: &str| {
        part.split_once('>')
            .unwrap()
            .1
            .split("</text>")
            .next()
            .unwrap()
            .trim()
            .to_owned()
    };
    svg.split("<text").skip(1).map(inner).collect()
}

fn number(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| panic!("{text} is no number"))
}
