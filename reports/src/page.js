// Sorts and filters the tables of the page. Without it they stand as they are, best first.
(() => {
  'use strict';
  const UNITS = {ms: 1, s: 1e3, min: 6e4, h: 36e5};
  // A number of a cell, times in milliseconds; words and dashes have none.
  const number = (text) => {
    const found = /^\s*\$?\s*([+\-−]?[\d.,]+)(?:[^[]*?\s(ms|s|min|h)(?![\w%]))?/.exec(text);
    if (!found) return NaN;
    const value = Number(found[1].replace(/,/g, '').replace('−', '-'));
    return value * (UNITS[found[2]] || 1);
  };
  const say = document.createElement('p');
  say.className = 'unseen';
  say.setAttribute('role', 'status');
  document.querySelector('main').append(say);

  const sortBy = (table, column) => {
    const heads = [...table.tHead.rows[0].cells];
    const head = heads[column];
    const up = head.getAttribute('aria-sort') !== 'ascending';
    for (const other of heads) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const body = table.tBodies[0];
    const key = (row) => row.cells[column].textContent.trim();
    const rows = [...body.rows].map((row, place) => ({row, place, text: key(row), value: number(key(row))}));
    rows.sort((a, b) => {
      const known = Number(Number.isNaN(a.value)) - Number(Number.isNaN(b.value));
      const order = Number.isNaN(a.value) ? a.text.localeCompare(b.text) : a.value - b.value;
      return known || (up ? order : -order) || a.place - b.place;
    });
    body.append(...rows.map(({row}) => row));
    say.textContent = `Sorted by ${head.textContent.trim()}, ${up ? 'smallest' : 'largest'} first.`;
  };

  const filterBox = (table, name) => {
    const label = document.createElement('label');
    const input = document.createElement('input');
    label.className = 'filter';
    label.append('Filter rows ', input);
    input.type = 'search';
    input.setAttribute('aria-label', `Filter the rows of ${name}`);
    input.addEventListener('input', () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        left += Number(!row.hidden);
      }
      say.textContent = `${left} of ${table.tBodies[0].rows.length} rows are shown.`;
    });
    return label;
  };

  for (const table of document.querySelectorAll('.scroll > table')) {
    const name = table.caption ? table.caption.textContent.trim() : 'the table';
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      button.addEventListener('click', () => sortBy(table, column));
      head.append(button);
    });
    if (table.tBodies[0].rows.length >= 5) table.parentElement.before(filterBox(table, name));
  }
})();
