// Opens a report's page in a headless Chromium at three widths, light and dark, and checks what can
// only be seen in a browser: no console error, no request, nothing that sticks out of the page,
// tables that sort and filter, and what a keyboard or a screen reader needs.
//
//   node check.mjs PAGE [FOLDER]     with a folder: keeps a screenshot of each width and scheme there
//
// CHROMIUM names the browser's program; without it the one that comes with the package is taken.
import {chromium} from 'playwright-core';
import path from 'node:path';
import process from 'node:process';
import {pathToFileURL} from 'node:url';

// `--plain` checks a page without tables that sort, such as that of one request.
const plain = process.argv.includes('--plain');
const [page_file, pictures] = process.argv.slice(2).filter((word) => word !== '--plain');
const address = pathToFileURL(path.resolve(page_file)).href;
const failures = [];
let passed = 0;
const check = (holds, words) => {
  if (holds) passed += 1;
  else failures.push(words);
};

async function program() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const {default: packed} = await import('@sparticuz/chromium');
  return packed.executablePath();
}

const executablePath = await program();
const browser = await chromium.launch({
  executablePath,
  headless: true,
  args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-background-networking'],
});

async function opened(width, colorScheme, javaScriptEnabled = true) {
  const context = await browser.newContext({
    viewport: {width, height: 900}, colorScheme, javaScriptEnabled,
  });
  const page = await context.newPage();
  const where = `${width} px, ${colorScheme}`;
  page.on('console', (message) => {
    check(!['error', 'warning'].includes(message.type()), `${where}: console says ${message.text()}`);
  });
  page.on('pageerror', (error) => check(false, `${where}: ${error}`));
  page.on('request', (request) => check(request.url() === address, `${where}: asks for ${request.url()}`));
  await page.goto(address);
  return {page, context, where};
}

for (const width of [360, 768, 1440]) {
  for (const scheme of ['light', 'dark']) {
    const {page, context, where} = await opened(width, scheme);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    check(wide <= 0, `${where}: the body is ${wide} px wider than the window`);
    const colours = await page.evaluate(() => {
      const style = getComputedStyle(document.body);
      return [style.color, style.backgroundColor].map((text) => text.match(/\d+/g).slice(0, 3).map(Number));
    });
    const [ink, paper] = colours.map(([r, g, b]) => r + g + b);
    check(scheme === 'dark' ? paper < ink : ink < paper, `${where}: ink ${ink} on paper ${paper}`);
    if (pictures) await page.screenshot({path: `${pictures}/${width}-${scheme}.png`, fullPage: true});
    await context.close();
  }
}

if (!plain) {
  const {page, context} = await opened(1440, 'light');
  const heads = page.locator('table').first().locator('thead button');
  const column = (index) => page.locator('table').first().locator(`tbody tr > :nth-child(${index + 1})`);
  const numbers = async (index) => (await column(index).allTextContents()).map((text) => Number.parseFloat(text));
  const titles = await heads.allTextContents();
  const success = titles.findIndex((title) => title === 'Success' || title === 'Goodput');
  for (const [state, sign] of [['ascending', 1], ['descending', -1]]) {
    await heads.nth(success).click();
    const values = await numbers(success);
    const sorted = values.every((value, row) => row === 0 || sign * (value - values[row - 1]) >= 0);
    check(values.length > 1 && sorted, `sorting: ${state} gives ${values}`);
    const told = await page.locator('table').first().locator('th[aria-sort]').getAttribute('aria-sort');
    check(told === state, `sorting: aria-sort says ${told}, not ${state}`);
  }
  await heads.nth(0).focus();
  await page.keyboard.press('Enter');
  const places = await numbers(0);
  check(places.every((place, row) => place === row + 1), `the keyboard sorts too: ${places}`);
  const focus = await heads.nth(0).evaluate((button) => getComputedStyle(button).outlineStyle);
  check(focus !== 'none', 'the focus can be seen');

  const rows = page.locator('table').first().locator('tbody tr');
  const all = await rows.count();
  await page.locator('input[type=search]').first().fill('reference');
  const left = await page.locator('table').first().locator('tbody tr:visible').count();
  check(left >= 1 && left < all, `the filter leaves ${left} of ${all} rows`);
  const said = await page.locator('[role=status]').textContent();
  check(said.includes(`${left} of ${all}`), `the filter says: ${said}`);
  await page.locator('input[type=search]').first().fill('');

  const facts = await page.evaluate(() => {
    const levels = [...document.querySelectorAll('h1,h2,h3,h4')].map((head) => Number(head.tagName[1]));
    const named = (element) => element.getAttribute('aria-label') || element.textContent.trim();
    const all = (selector, holds) => [...document.querySelectorAll(selector)].every(holds);
    return {
      'one main': document.querySelectorAll('main').length === 1,
      'one footer': document.querySelectorAll('footer').length === 1,
      'a language': document.documentElement.lang === 'en',
      'a title': document.title.length > 0,
      'one h1, first': levels[0] === 1 && levels.filter((level) => level === 1).length === 1,
      'no level of headings left out': levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1),
      'each table has a caption': all('table', (table) => table.caption && table.caption.textContent.trim()),
      'each head of a column says so': all('thead th', (head) => head.scope === 'col'),
      'each picture has a name and a description': all('figure svg', (svg) =>
        svg.getAttribute('role') === 'img' && named(svg) && svg.querySelector('desc').textContent.length > 20),
      'each picture has a caption': all('figure', (figure) => figure.querySelector('figcaption').textContent.trim()),
      'each button and field has a name': all('button,input', named),
      'what scrolls can be reached by keyboard': all('.scroll', (box) => box.tabIndex === 0 && named(box)),
      'ids are unique': new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size
        === document.querySelectorAll('[id]').length,
    };
  });
  for (const [fact, holds] of Object.entries(facts)) check(holds, fact);

  await page.reload();
  await page.keyboard.press('Tab');
  const first = await page.evaluate(() => document.activeElement.textContent);
  check(first.startsWith('Skip'), `the first stop of the keyboard is: ${first}`);
  await page.keyboard.press('Enter');
  check(await page.evaluate(() => document.activeElement.id === 'main'), 'the skip link leads to main');
  await page.emulateMedia({media: 'print', colorScheme: 'dark'});
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check(paper === 'rgb(255, 255, 255)', `print is on ${paper}`);
  check(!(await page.locator('input[type=search]').first().isVisible()), 'no filter on paper');
  await context.close();
}
if (!plain) {
  const {page, context} = await opened(768, 'light', false);
  check(await page.locator('table tbody tr').count() > 1, 'tables are there without the script');
  check(await page.locator('button').count() === 0, 'no dead buttons without the script');
  await context.close();
}
await browser.close();
for (const failure of failures) console.log(`FAILED: ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
