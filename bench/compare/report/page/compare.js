'use strict';
// Draws the comparison from the JSON in #data. Every text goes in by textContent.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const mean = s => s ? s.mean : null;

  // --- numbers as people read them
  const percent = (v, digits = 1) => known(v) ? (100 * v).toFixed(digits) + ' %' : '–';
  const spread = s => !s ? '–' : s.count > 1
    ? `${(100 * s.mean).toFixed(2)} ± ${(100 * s.deviation).toFixed(2)}` : (100 * s.mean).toFixed(2);
  const signed = v => (v > 0 ? '+' : '') + v.toFixed(1);
  const seconds = v => !known(v) ? '–' : v < 120 ? trim(v) + ' s'
    : v < 7200 ? trim(v / 60) + ' min' : trim(v / 3600) + ' h';
  const axes = {
    seconds: {title: 'seconds of training', format: v => short(v)},
    samples: {title: 'samples, all workers', format: v => short(v)},
    bytes: {title: 'bytes sent, all workers', format: v => short(v) + 'B'},
  };

  // --- one colour per row, the same under every condition; a strategy's first row has its own
  const everyRow = data.groups.flatMap(g => g.rows);
  const names = [...new Set(everyRow.map(r => r.label))];
  const hues = {'stencil-async': 217, allreduce: 22, local: 145, single: 0, 'parameter-server': 280,
                'parameter-server-sync': 320, 'stencil-sync': 190};
  const spare = [95, 255, 340, 60, 170, 300, 120, 240];
  const own = new Map(Object.entries(hues).map(([strategy, hue]) =>
    [everyRow.find(r => r.strategy === strategy)?.label, hue]));
  const hue = name => own.get(name) ?? spare[names.indexOf(name) % spare.length];
  const colour = (name, alpha = 1) => `hsla(${hue(name)}, 72%, ${css('--lightness')}, ${alpha})`;

  let group = data.groups[0];
  let axis = 'seconds';
  const hidden = new Set();
  let charts = [];

  const header = () => {
    byId('title').textContent = data.name;
    byId('question').textContent = data.question;
    for (const [name, value] of [['model', group.model], ['data', group.data],
      ['epochs', trim(group.epochs)]])
      byId('chips').append(make('li', {}, make('span', {}, name), value));
    const notes = [];
    if (!data.tuned_by && data.groups.some(g => g.time !== 'stand-in')) notes.push('Learning rates were not tuned by a comparison of their own; one seed where no ± stands. A true picture, but not the last word.');
    for (const g of data.groups) for (const row of g.rows) {
      if (row.diverged) notes.push(`${row.label}, ${g.condition}: ${row.diverged} of ${row.seeds} diverged.`);
      if (row.failed) notes.push(`${row.label}, ${g.condition}: ${row.failed} of ${row.seeds} failed.`);
      if (row.lost) notes.push(`${row.label}, ${g.condition}: ${row.lost} of its workers died.`);
    }
    byId('notice').hidden = notes.length === 0;
    byId('notice').append(...notes.map(text => make('p', {}, text)));
    data.groups.forEach((g, i) => byId('groups').append(
      make('button', {'data-value': i, class: i ? '' : 'on'}, g.condition)));
    byId('made').textContent = [data.command, ...data.made_by,
      ...(data.tuned_by ? [`learning rates: tuned by ${data.tuned_by}`] : []),
      ...data.groups.flatMap(g => ['', g.condition, ...g.rows.map(r => `  ${r.label}: ${r.cells.join(' ')}`)])].join('\n');
  };

  // A stand-in waits instead of computing: it has step times, and no accuracy.
  const learns = () => group.time !== 'stand-in';
  const stepTime = row => row.samples_per_second
    ? group.workers * group.batch / row.samples_per_second.mean : null;
  const raced = row => learns() ? mean(row.seconds_to_target) : stepTime(row);
  const ratio = (base, row) => base && known(raced(base)) && known(raced(row))
    ? raced(base) / raced(row) : null;

  const about = () => {
    const slow = Object.entries(group.slow).map(([r, f]) => `worker ${r} ${f}x slower`);
    byId('about').textContent = [`${group.workers} workers on ${group.topology}`,
      `shards ${group.partition}`, ...slow,
      ...(group.link_mbit ? [`${group.link_mbit} Mbit/s per worker`] : []),
      {real: 'real processes, this machine’s clock',
        virtual: 'real gradients, virtual clock: each worker on a core of its own',
        'stand-in': 'real processes and links; a step waits instead of computing, so nothing is learnt'}[group.time]].join(' · ');
    const best = (title, value, text) => byId('cards').append(
      make('div', {class: byId('cards').children.length ? 'card' : 'card first'},
        make('h3', {}, title), make('p', {}, value), make('div', {}, text)));
    byId('cards').replaceChildren();
    // Of several rows the most accurate one, or the quickest where nothing is learnt.
    const merit = row => learns() ? (row.accuracy ? row.accuracy.mean : 0) : -(stepTime(row) || Infinity);
    const find = name => group.rows.filter(r => r.strategy === name)
      .reduce((a, b) => a && merit(a) >= merit(b) ? a : b, undefined);
    const ours = find('stencil-async'), theirs = find('allreduce');
    const ahead = ratio(theirs, ours || {});
    if (ours && learns()) best(ours.label, ours.accuracy ? percent(ours.accuracy.mean, 2) : '–', 'mean model, final set');
    if (theirs && learns()) best('all-reduce', theirs.accuracy ? percent(theirs.accuracy.mean, 2) : '–', 'final set');
    if (ours && theirs && ours.accuracy && theirs.accuracy)
      best('Difference', ((ours.accuracy.mean - theirs.accuracy.mean) * 100).toFixed(2), 'points, ours − all-reduce');
    if (known(ahead)) best(learns() ? 'To the target' : 'Steps', trim(ahead) + 'x',
      'as fast as all-reduce' + (known(group.ceiling) ? `; modelled ceiling ${trim(group.ceiling)}x` : ''));
    if (ours && theirs && ours.bytes_per_sample && theirs.bytes_per_sample)
      best('Bytes', trim(ours.bytes_per_sample.mean / theirs.bytes_per_sample.mean) + 'x', 'of all-reduce’s');
  };

  const legend = () => {
    byId('legend').replaceChildren(...group.rows.map(row => {
      const name = row.label;
      const button = make('button', {class: hidden.has(name) ? 'off' : ''},
        make('i', {style: `background:${colour(name)}`}), name);
      button.addEventListener('click', () => {
        hidden.has(name) ? hidden.delete(name) : hidden.add(name);
        draw();
      });
      return button;
    }));
  };

  const scale = (title, more = {}) => ({grid: {color: css('--line')}, ticks: {color: css('--soft')},
    title: {display: !!title, text: title, color: css('--soft')}, ...more});

  const lines = (id, y, yScale) => {
    const datasets = [];
    const rows = group.rows.filter(r => !hidden.has(r.label) && r.curve.length);
    for (const row of rows) {
      const name = row.label;
      const points = f => row.curve.filter(p => known(p[axis])).map(p => ({x: p[axis], y: f(p)}));
      if (axis === 'bytes' && !row.curve.some(p => p.bytes > 0)) continue;
      if (y === 'accuracy' && row.curve.some(p => p.deviation > 0)) {
        datasets.push({data: points(p => 100 * (p.accuracy + p.deviation)), pointRadius: 0,
          borderWidth: 0, fill: '+1', backgroundColor: colour(name, .16), band: true});
        datasets.push({data: points(p => 100 * (p.accuracy - p.deviation)), pointRadius: 0,
          borderWidth: 0, band: true});
      }
      datasets.push({label: name, data: points(p => y === 'accuracy' ? 100 * p.accuracy : p[y] || NaN),
        borderColor: colour(name), backgroundColor: colour(name), pointRadius: 2.5, borderWidth: 2,
        tension: .15});
    }
    charts.push(new Chart(byId(id), {type: 'line', data: {datasets}, options: {
      animation: false, maintainAspectRatio: false, parsing: false, interaction: {mode: 'nearest', intersect: false},
      plugins: {legend: {display: false}, tooltip: {filter: i => !i.dataset.band, callbacks: {
        title: items => items.length ? axes[axis].format(items[0].parsed.x) : '',
        label: i => `${i.dataset.label}: ${y === 'accuracy' ? i.parsed.y.toFixed(2) + ' %' : i.parsed.y.toExponential(1)}`}}},
      scales: {x: scale(axes[axis].title, {type: 'linear', min: 0, ticks: {color: css('--soft'), callback: v => axes[axis].format(v)}}), y: yScale}}}));
  };

  const race = () => {
    byId('racetitle').textContent = learns() ? 'Time to the target' : 'Time of a step';
    byId('targetnote').textContent = learns()
      ? `${percent(group.target)} on held-out examples, shorter is better; – not reached`
      : 'one step of every worker, shorter is better';
    const rows = group.rows.filter(r => !hidden.has(r.label));
    const base = rows.find(r => r.strategy === 'allreduce');
    const beside = row => !known(raced(row)) ? ' –'
      : row !== base && known(ratio(base, row)) ? ` · ${trim(ratio(base, row))}x` : '';
    charts.push(new Chart(byId('race'), {type: 'bar',
      data: {labels: rows.map(r => r.label + beside(r)), datasets: [{
        data: rows.map(raced), backgroundColor: rows.map(r => colour(r.label, .85)), borderRadius: 4}]},
      options: {indexAxis: 'y', animation: false, maintainAspectRatio: false,
        plugins: {legend: {display: false}, tooltip: {callbacks: {label: i => seconds(i.parsed.x)}}},
        scales: {x: scale('seconds', {beginAtZero: true}), y: scale('', {grid: {display: false}})}}}));
  };

  const table = () => {
    const columns = [['strategy', r => r.label], ['rate', r => r.learning_rate], ['seeds', r => r.seeds],
      ['mean model %', r => spread(r.accuracy), r => mean(r.accuracy)],
      ['unseen %', r => spread(r.unseen), r => mean(r.unseen)],
      ['worst worker %', r => spread(r.worst_worker), r => mean(r.worst_worker)],
      ['step', r => known(stepTime(r)) ? trim(1000 * stepTime(r)) + ' ms' : '–', r => known(stepTime(r)) ? -stepTime(r) : null],
      ['training', r => seconds(mean(r.seconds)), r => known(mean(r.seconds)) ? -mean(r.seconds) : null],
      ['to target', r => seconds(mean(r.seconds_to_target)), r => known(mean(r.seconds_to_target)) ? -mean(r.seconds_to_target) : null],
      ['at equal time', r => percent(r.at_equal_time), r => r.at_equal_time],
      ['at equal bytes', r => percent(r.at_equal_bytes), r => r.at_equal_bytes],
      ['bytes / sample', r => r.bytes_per_sample ? short(r.bytes_per_sample.mean) + 'B' : '–'],
      ['consensus', r => r.consensus ? r.consensus.toExponential(1) : '0']]
      .filter(([name]) => name !== 'unseen %' || group.rows.some(r => r.unseen))
      .filter(([name]) => learns() || ['strategy', 'step', 'training', 'bytes / sample'].includes(name));
    const best = columns.map(([, , value]) => value
      ? Math.max(...group.rows.map(value).filter(known)) : null);
    byId('table').replaceChildren(
      make('thead', {}, make('tr', {}, ...columns.map(([name]) => make('th', {}, name)))),
      make('tbody', {}, ...group.rows.map(row => make('tr', {}, ...columns.map(([, text, value], i) =>
        i === 0 ? make('td', {}, make('i', {style: `background:${colour(row.label)}`}), text(row))
          : make('td', {class: value && known(value(row)) && value(row) === best[i] ? 'best' : ''}, text(row)))))));
  };

  // --- tables of all conditions together; a row begins with its strategy's colour
  const overall = (section, id, rows, columns) => {
    byId(section).hidden = rows.length === 0;
    byId(id).replaceChildren(
      make('thead', {}, make('tr', {}, ...columns.map(([name]) => make('th', {}, name)))),
      make('tbody', {}, ...rows.map(row => make('tr', {}, ...columns.map(([, text], i) =>
        make('td', {}, ...(i === 0 ? [make('i', {style: `background:${colour(row.label)}`})] : []), text(row)))))));
  };

  const pairs = () => {
    const apart = (d, scale, digits) => (d.mean > 0 ? '+' : '') + (scale * d.mean).toFixed(digits)
      + ' ± ' + (scale * d.standard_error).toFixed(digits);
    overall('paired', 'pairs', data.beside_allreduce, [['strategy', p => p.label],
      ['shards', p => p.partition], ['time', p => p.time], ['pairs', p => p.pairs], ['mean model', p => apart(p.accuracy, 100, 2)],
      ['worst worker', p => apart(p.worst_worker, 100, 2)],
      ['held-out', p => apart(p.held_out, 100, 2)],
      ['held-out loss', p => apart(p.loss, 1, 3)],
      ['unseen', p => p.unseen ? apart(p.unseen.accuracy, 100, 2) : '–'],
      ['unseen loss', p => p.unseen ? apart(p.unseen.loss, 1, 3) : '–']]
      .filter(([name]) => !name.startsWith('unseen') || data.beside_allreduce.some(p => p.unseen)));
  };

  const checks = () => {
    overall('checked', 'checks', data.checks, [['strategy', c => c.label],
      ['condition', c => c.condition], ['topology', c => c.topology],
      ['real', c => seconds(mean(c.real.seconds))], ['virtual', c => seconds(mean(c.virtual.seconds))],
      ['difference', c => c.real.seconds && c.virtual.seconds
        ? signed(100 * (c.virtual.seconds.mean / c.real.seconds.mean - 1)) + ' %' : '–'],
      ['mean model %, real', c => spread(c.real.accuracy)], ['virtual', c => spread(c.virtual.accuracy)]]);
  };

  const draw = () => {
    for (const chart of charts) chart.destroy();
    charts = [];
    about();
    legend();
    byId('learning').hidden = byId('agreement').hidden = !learns();
    lines('accuracy', 'accuracy', scale('%'));
    lines('consensus', 'consensus', scale('', {type: 'logarithmic', ticks: {color: css('--soft'),
      callback: v => /^1e/.test(v.toExponential()) ? v.toExponential() : ''}}));
    race();
    table();
    pairs();
    checks();
  };

  header();
  toggle('groups', value => { group = data.groups[+value]; draw(); });
  toggle('axis', value => { axis = value; draw(); });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  draw();
})();
