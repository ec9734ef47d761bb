'use strict';
// Draws the page from the JSON in #data. Every text of the run goes in by textContent.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const summary = data.summary;
  const dark = window.matchMedia('(prefers-color-scheme: dark)');

  // --- numbers as people read them
  const count = v => known(v) ? Math.round(v).toLocaleString('en-US') : '–';
  const percent = (v, digits = 2) => known(v) ? (100 * v).toFixed(digits) + ' %' : '–';
  const bytes = v => known(v) ? (v < 1000 ? v + ' B' : short(v) + 'B') : '–';
  const tiny = v => known(v) ? (v === 0 ? '0' : v < 0.01 ? v.toExponential(1) : v.toPrecision(2)) : '–';
  const millis = v => known(v) && v > 0 ? trim(v) + ' ms' : '–';
  const duration = v => {
    if (!known(v)) return '–';
    if (v < 60) return trim(v) + ' s';
    const s = Math.round(v), pad = n => String(n).padStart(2, '0');
    return s < 3600 ? Math.floor(s / 60) + 'm ' + pad(s % 60) + 's'
                    : Math.floor(s / 3600) + 'h ' + pad(Math.floor(s / 60) % 60) + 'm';
  };
  const clock = v => {
    const s = Math.round(v), pad = n => String(n).padStart(2, '0');
    return s < 3600 ? Math.floor(s / 60) + ':' + pad(s % 60)
                    : Math.floor(s / 3600) + ':' + pad(Math.floor(s / 60) % 60) + ':' + pad(s % 60);
  };

  // --- elements
  const svg = (tag, attributes, ...children) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // --- colours: ten that are easily told apart, beyond that around the wheel
  const hues = [217, 22, 145, 280, 340, 190, 45, 255, 95, 0];
  const n = data.workers.length;
  const colour = (rank, alpha = 1) => n <= hues.length
    ? `hsla(${hues[rank]}, 72%, ${css('--lightness')}, ${alpha})`
    : `hsla(${(rank * 360 / n).toFixed(1)}, 68%, ${css('--lightness')}, ${alpha})`;

  // --- header
  const header = () => {
    byId('title').textContent = data.title;
    byId('verdict').textContent = data.verdict;
    byId('verdict').classList.toggle('doubt', !data.whole || data.workers.some(w => w.exit_code));
    const started = data.started > 0
      ? new Date(1000 * data.started).toISOString().replace('T', ' ').slice(0, 16) + ' UTC' : '';
    const chips = [['', summary.workers === 1 ? '1 worker' : `${summary.workers} workers`], ['topology', summary.topology],
      ['mode', summary.mode], ['model', summary.model], ['data', summary.data],
      ['epochs', summary.epochs ? trim(summary.epochs) : ''],
      ['wall time', duration(summary.wall_seconds)], ['started', started], ['run', summary.run_id]];
    for (const [name, value] of chips) {
      if (!value) continue;
      byId('chips').append(make('li', {}, ...(name ? [make('span', {}, name)] : []), value));
    }
    const ranks = list => (list.length > 1 ? 'workers ' : 'worker ') + list.join(', ');
    const notes = [];
    if (summary.lost_ranks.length) notes.push(`Lost: ${ranks(summary.lost_ranks)} died without a last word. The others went on.`);
    if (data.shortfall) notes.push(`${data.shortfall}.`);
    if (summary.older_run_ranks.length) notes.push(`The folders of ${ranks(summary.older_run_ranks)} hold an older run too, which is not counted.`);
    if (summary.islands.length) notes.push(`The run fell apart: the models of ${summary.islands.map(ranks).join(' and of ')} never met, or no longer at the end. The mean model is that of ${ranks(summary.islands[0])}.`);
    for (const {rank, why} of summary.left_out) notes.push(`Not in the mean model: worker ${rank}: ${why}.`);
    if (summary.not_learnt) notes.push(`${summary.not_learnt[0].toUpperCase()}${summary.not_learnt.slice(1)}.`);
    if (summary.not_evaluated && summary.model) notes.push(`The mean model is not evaluated: ${summary.not_evaluated}.`);
    const failed = data.workers.filter(w => w.exit_code && !w.lost).map(w => w.rank);
    if (failed.length) notes.push(`Ended with an error: ${ranks(failed)}. See the table below.`);
    byId('notice').hidden = notes.length === 0;
    byId('notice').append(...notes.map(text => make('p', {}, text)));
  };

  const span = (low, high) => {
    if (!known(low)) return '–';
    const [a, b] = [low, high].map(v => (100 * v).toFixed(1));
    return (a === b ? a : `${a}–${b}`) + ' %';
  };

  // --- words, explained where one points at them, and all together at the end of the page
  const words = {
    'consensus distance': 'How far the workers’ models are apart: rms over workers of |x − mean| / |mean|. 0: all are the same.',
    'sweeps': 'A sweep is one exchange of the whole model, bucket by bucket, with one neighbour.',
    'bucket': 'A part of the model, 16 to 256 KiB, that two neighbours average at once.',
    'in exchange()': 'Share of a training thread’s time that averaging took: folding what was agreed, and waiting.',
    'sent': 'Bytes sent to neighbours, headers included.',
    'shared': 'Bytes of the model averaged with neighbours on the same host in each other’s memory: nothing was sent.',
    'starts': 'How often the worker was started: once, again after each bad end, and for each time that the run was resumed.',
    'time': 'Since each worker’s own start. Workers’ clocks are not compared: of one that was started again or resumed, what lay between two lives is left out, so that from then on its times are earlier than the others’.',
    'ended': 'Exit code 0 is well; README explains the others.',
    'progress': 'Share of the samples that all workers together were to train on. A worker that died counts as going on, so that the run ends when the others have made their share.',
    'settled': 'A worker that is done and agrees with its neighbours; frozen: its model changes no more.',
    'suspect': 'A neighbour that has not been heard of for a while; gone: for so long that nobody waits for it.',
    'round trip': 'Time from offering a bucket to a neighbour until its reply.',
  };
  const counterWords = {
    sweeps: 'passes over the whole model completed with a neighbour, begun here',
    offers: 'buckets that this worker offered to neighbours over the network',
    answers: 'offers of neighbours that it averaged with and answered',
    merges: 'offers of both ends that crossed, and became one exchange',
    declined: 'offers that came while their bucket was busy, and were put off',
    withdrawn: 'offers that never arrived, and were taken back',
    lost_in_flight: 'offers and replies lost with a neighbour that died',
    resynchronised: 'times that both ends of an edge compared anew what had arrived, as after a broken connection',
    stale_frames: 'messages of a connection that is over; ignored',
    duplicates: 'messages seen before; ignored',
    gaps: 'messages that came after a missing one',
    refusals: 'neighbours that could not be exchanged with: another model, run or version',
    violations: 'messages that no worker sends; ignored',
    other_grids: 'times that a neighbour had not made the changes of the grid that were made here',
    start_refused: 'initial weights of neighbours that were not those that they told of; not taken over',
    suspected: 'times that a neighbour was silent for a while',
    gone: 'neighbours that were silent for so long that they were given up',
    returned: 'neighbours that were heard again after a silence',
    malformed: 'messages that could not be read',
    checksum: 'payloads that were damaged on the way',
    payload_size: 'payloads of a length that no message of this run has',
    non_finite: 'payloads of neighbours that held NaN or infinity; never mixed',
    own_non_finite: 'buckets of its own that held NaN or infinity; never offered',
    claims_refused: 'means that neighbours told of and that no work of this run can have come to; not taken',
    unknown_senders: 'messages of ranks that are no neighbours',
    unproven: 'messages over links that had not proven their key',
    frames_dropped: 'messages dropped since a queue was full, or since they were of a connection that is over',
    resent: 'answers sent once more',
    shares: 'buckets averaged in shared memory, begun here',
    shares_declined: 'buckets in shared memory whose owner was using them',
    held: 'times that a bucket in shared memory was locked by another process',
    skipped: 'buckets left out of a sweep for that',
    looked: 'words of 64 buckets read to find the next one to ask for: a measure of work',
    deferred: 'times that a bucket could not be folded at a step boundary, and was at a later one',
    put_off: 'messages kept until another process had freed a bucket',
    inherited_locks: 'locks taken over from a process that died holding them',
    bytes_shared: 'bytes averaged in shared memory',
    frames_sent: 'messages sent', frames_received: 'messages received',
    bytes_sent: 'bytes sent, headers included', bytes_received: 'bytes received, headers included',
    bytes_waiting: 'bytes that have come and were not handed over when the worker last looked',
    strangers: 'connections or messages that were none of a worker’s, such as a port scan’s, or that a broken connection cut short; turned away',
    discarded: 'messages that the transport gave up, as where a link broke',
    memory_held: 'bytes that it held for the exchange at its end, beside the model',
    memory_budget: 'bytes that it might hold for the exchange (memory_budget)',
    data_used: 'bytes of its data_cap that it sent and received over the network in the last period',
    data_rests: '1 where it exchanged nothing at the end, to keep within its data_cap',
    examples_left_out: 'times that a training example was left out, since it held NaN or infinity',
    non_finite_losses: 'losses that were NaN or infinite; left out of the mean',
  };
  const word = name => {
    const meaning = words[name.toLowerCase()];
    return meaning ? make('abbr', {title: meaning}, name) : name;
  };

  const cards = () => {
    const accuracy = summary.test_accuracy;
    const measure = summary.test_measure || {};
    const evaluated = [
      known(accuracy.mean_model) || !known(summary.test_loss)
        ? ['Mean model', percent(accuracy.mean_model), 'accuracy on the test set']
        : ['Mean model', String(Number(summary.test_loss.toPrecision(3))), 'loss on the test set'],
      ['Workers alone', span(accuracy.worker_min, accuracy.worker_max), 'lowest and highest accuracy'],
    ];
    const list = [
      ...(known(measure.value) ? [[measure.name[0].toUpperCase() + measure.name.slice(1),
        String(Number(measure.value.toPrecision(4))), 'of the mean model']] : []),
      ...(summary.model ? evaluated : []),  // without a name it is a program's own
      ['Consensus distance', tiny(summary.consensus_distance), 'rms of |x − mean| / |mean|'],
      ['Throughput', count(summary.samples_per_second), 'samples/s, all workers'],
      ['In exchange()', percent(summary.exchange_share), 'of the training threads’ time'],
      ['Sent', bytes(summary.bytes_sent), count(summary.sweeps_completed) + ' sweeps completed'],
      ...(summary.bytes_shared ? [['Shared', bytes(summary.bytes_shared), 'averaged in shared memory']] : []),
    ];
    list.forEach(([name, value, text], i) => byId('cards').append(
      make('div', {class: i ? 'card' : 'card first'}, make('h3', {}, word(name)), make('p', {}, value),
           make('div', {}, text))));
  };

  // --- curves
  let axis = 'time';
  const hidden = new Set();
  const charts = [];
  // Known at some moments only.
  const rare = new Set(['test_accuracy', 'test_loss', ...data.said.map(name => `said/${name}`)]);
  const points = (series, name) => {
    const out = [];
    for (let i = 0; i < series.time.length; i++) {
      const x = series[axis][i], y = series[name][i];
      if (known(x) && (known(y) || !rare.has(name))) out.push({x, y: known(y) ? y : NaN});
    }
    return out;
  };
  const has = name => data.workers.some(w => w.series && w.series[name].some(known));
  const last = () => Math.max(0, ...data.workers.filter(w => w.series)
    .map(w => w.series[axis][w.series[axis].length - 1] || 0));

  const curves = (name, extra = () => []) => {
    const mean = data.mean[name];
    const many = n > 16;
    const sets = extra();
    if (mean && mean[axis].length && n > 1 && !hidden.has('mean')) {
      sets.push({label: 'mean of workers', data: mean[axis].map(([x, y]) => ({x, y})), order: -1,
        borderColor: css('--mean'), borderWidth: 2.5, pointRadius: 0});
    }
    for (const w of data.workers) {
      if (!w.series || hidden.has(w.rank)) continue;
      const list = points(w.series, name);
      sets.push({label: `worker ${w.rank}`, data: list, borderColor: colour(w.rank, many ? .45 : .85),
        borderWidth: many ? 1 : 1.5, pointRadius: list.filter(p => known(p.y)).length === 1 || rare.has(name) ? 3 : 0,
        backgroundColor: colour(w.rank)});
    }
    return sets;
  };

  const scale = (title, format, more = {}) => Object.assign({
    grid: {color: css('--line'), drawBorder: false, drawTicks: false},
    ticks: {color: css('--soft'), callback: format, maxTicksLimit: 7, padding: 6, maxRotation: 0},
    title: {display: Boolean(title), text: title, color: css('--soft')},
  }, more);

  const lineChart = (id, format, {more = () => ({}), extra = () => []} = {}) => {
    const xFormat = v => axis !== 'time' ? short(v) : last() < 30 ? trim(v) + ' s' : clock(v);
    const chart = new Chart(byId(id), {
      type: 'line',
      data: {datasets: []},
      options: {
        animation: false, parsing: false, normalized: false, maintainAspectRatio: false,
        interaction: {mode: 'nearest', intersect: false},
        plugins: {legend: {display: false}, tooltip: {displayColors: true, callbacks: {
          title: items => items.length ? xFormat(items[0].parsed.x) +
            (axis === 'time' ? '' : ' samples') : '',
          label: item => ` ${item.dataset.label}: ${format(item.parsed.y)}`}}},
      },
    });
    const draw = () => {
      chart.data.datasets = curves(id, extra);
      chart.options.scales = {
        x: scale(axis === 'time' ? 'time since each worker’s start, pauses left out' : 'samples seen by all workers',
                 xFormat, {type: 'linear', min: 0, max: last() || undefined}),
        y: scale('', format, more()),
      };
      chart.update();
    };
    charts.push(draw);
  };

  const training = () => {
    // What nobody told has no figure.
    for (const [name, format] of [['loss', trim], ['test_accuracy', v => percent(v, 1)],
        ['test_loss', trim], ['progress', v => percent(v, 0)], ['learning_rate', tiny]]) {
      byId(`${name}-figure`).hidden = !has(name);
      if (has(name)) lineChart(name, v => format(v), {more: () => ({beginAtZero: true})});
    }
    for (const name of data.said) {  // of a program of one's own
      const id = `said/${name}`;
      byId('accuracy-figure').before(make('figure', {},
        make('figcaption', {}, name + ' ', make('small', {}, 'as each worker said it, and the mean as they knew it')),
        make('div', {class: 'plot'}, make('canvas', {id}))));
      lineChart(id, trim);
    }
    // Unknown where the model is a program's own.
    const knowsAccuracy = known(summary.test_accuracy.mean_model) ||
      data.workers.some(w => w.series && w.series.accuracy.some(known));
    byId('accuracy-figure').hidden = !knowsAccuracy;
    if (knowsAccuracy) lineChart('accuracy', v => percent(v, v > 0 && v < 0.01 ? 2 : 0), {
      more: () => ({beginAtZero: true}),
      extra: () => known(summary.test_accuracy.mean_model) ? [{
        label: 'mean model, test set', order: -2, pointRadius: 0, borderWidth: 1.5,
        borderDash: [6, 5], borderColor: css('--accent'),
        data: [0, last()].map(x => ({x, y: summary.test_accuracy.mean_model}))}] : []});
    const decade = v => {
      const e = Math.log10(v);
      return Math.abs(e - Math.round(e)) < 1e-6 ? v.toExponential(0) : '';
    };
    byId('consensus-figure').hidden = !has('consensus');
    if (has('consensus')) lineChart('consensus', tiny, {more: () => ({type: 'logarithmic', ticks: {
      color: css('--soft'), padding: 6, callback: v => decade(v)}})});
    lineChart('rate', short, {more: () => ({beginAtZero: true})});
    byId('round_trip-figure').hidden = !has('round_trip');
    if (has('round_trip')) lineChart('round_trip', v => trim(v), {more: () => ({beginAtZero: true})});
    toggle('axis', value => { axis = value; redraw(); });
  };

  const legend = () => {
    const entry = (key, text, stroke, kind) => {
      const button = make('button', {class: kind, type: 'button', title: 'show or hide'},
        make('i', {style: `background: ${stroke}`}), text);
      button.classList.toggle('off', hidden.has(key));
      button.onclick = () => {
        hidden.has(key) ? hidden.delete(key) : hidden.add(key);
        redraw();
      };
      return button;
    };
    const entries = n > 1 ? [entry('mean', 'mean of workers', css('--mean'), 'mean')] : [];
    if (n <= 36) {
      for (const w of data.workers)
        if (w.series) entries.push(entry(w.rank, `worker ${w.rank}`, colour(w.rank), ''));
    }
    byId('legend').replaceChildren(...entries);
  };

  // --- edges
  let measure = 'sweeps';
  const measures = {sweeps: [count, 'sweeps completed'], bytes: [bytes, 'sent in both directions'],
    round_trip: [millis, 'round trip of a bucket at the end']};
  let edgeChart;
  const edges = () => {
    const [format, text] = measures[measure];
    byId('edgenote').textContent = text;
    const many = data.grid.edges.length > 60;
    const list = data.grid.edges.map(e => ({label: `${e.a}–${e.b}`, value: e[measure] || 0}));
    if (many) list.sort((a, b) => b.value - a.value);
    if (!edgeChart) {
      edgeChart = new Chart(byId('edges'), {type: 'bar', data: {labels: [], datasets: []},
        options: {animation: false, maintainAspectRatio: false}});
    }
    edgeChart.data = {labels: list.map(e => e.label), datasets: [{data: list.map(e => e.value),
      backgroundColor: css('--accent'), borderRadius: 3, maxBarThickness: 34,
      categoryPercentage: many ? 1 : .8, barPercentage: many ? 1 : .9}]};
    edgeChart.options.plugins = {legend: {display: false}, tooltip: {callbacks: {
      title: items => 'edge ' + items[0].label, label: item => ' ' + format(item.parsed.y)}}};
    edgeChart.options.scales = {
      x: {grid: {display: false}, title: {display: many, color: css('--soft'),
            text: `${list.length} edges, sorted`},
          ticks: {color: css('--soft'), display: !many, autoSkip: true}},
      y: scale('', v => measure === 'bytes' ? bytes(v) : short(v), {beginAtZero: true})};
    edgeChart.update();
  };

  // --- the grid: distances are in units of the step between two neighbours
  const grid = () => {
    const {places, edges: list} = data.grid;
    const xs = places.map(p => p[0]), ys = places.map(p => p[1]);
    const wraps = list.some(e => e.wraps);
    const margin = .4, arcs = wraps ? .62 : margin;  // arcs swing upwards and to the right
    const left = Math.min(...xs) - margin, top = Math.min(...ys) - arcs;
    const width = Math.max(...xs) - left + arcs, height = Math.max(...ys) - top + margin;
    const big = Math.max(width, height);
    const unit = Math.min(1, big / 5);  // a small grid must not have huge nodes
    const crowd = Math.min(1, 3 * n / list.length);
    const root = svg('svg', {viewBox: `${left} ${top} ${width} ${height}`, role: 'img',
      'aria-label': 'the workers and their edges'});
    const [format, text] = measures[measure];
    const most = Math.max(...list.map(e => e[measure] || 0), 1e-12);
    for (const e of list) {
      const [x0, y0] = places[e.a], [x1, y1] = places[e.b];
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const ux = (x1 - x0) / length, uy = (y1 - y0) / length;
      // Arcs leave outwards and swing clear of the nodes between.
      const side = uy > .5 ? 1 : -1, out = .55, up = .58;
      const nx = uy * side, ny = ux * side;
      const path = e.wraps
        ? `M${x0} ${y0} C${x0 - ux * out + nx * up} ${y0 - uy * out + ny * up} ` +
          `${x1 + ux * out + nx * up} ${y1 + uy * out + ny * up} ${x1} ${y1}`
        : `M${x0} ${y0} L${x1} ${y1}`;
      const value = e[measure] || 0;
      const stroke = e.other_grid ? '--bad' : value > 0 ? '--accent' : '--line';
      root.append(svg('path', {d: path, fill: 'none', stroke: css(stroke),
        'stroke-width': unit * (.014 + crowd * (e.wraps ? .035 : .065) * value / most), 'stroke-linecap': 'round',
        'stroke-opacity': e.wraps ? .38 : .6},
        svg('title', {}, `${e.a} – ${e.b}: ${count(e.sweeps)} sweeps, ${bytes(e.bytes)}, ` +
          `round trip ${millis(e.round_trip)}` + (e.other_grid ? ', grids differ' : ''))));
    }
    const radius = .23 * unit;
    for (const w of data.workers) {
      const [x, y] = places[w.rank];
      const state = w.missing ? 'missing' : w.lost ? 'lost' : w.exit_code ? `exit code ${w.exit_code}` : w.state || 'ended';
      const bad = w.lost || w.missing, failed = !bad && w.exit_code;
      const group = svg('g', {},
        svg('title', {}, `worker ${w.rank}: ${state}` + (w.samples ? `, ${count(w.samples)} samples` : '')),
        svg('circle', {cx: x, cy: y, r: radius, fill: css('--surface')}),
        svg('circle', {cx: x, cy: y, r: radius, fill: bad ? css('--bad') : failed ? css('--warn') : colour(w.rank),
          'fill-opacity': bad || failed ? .9 : .85, stroke: css('--surface'), 'stroke-width': .025 * unit}));
      if (big < 26) {
        const text = bad ? `✕${w.rank}` : String(w.rank);
        const size = (text.length > 2 ? .15 : .2) * unit;
        const label = svg('text', {x, y, fill: css('--surface'), style: `font-size: ${size}px`});
        label.textContent = text;
        group.append(label);
      }
      root.append(group);
    }
    const notes = [`edges: thicker is more ${measure === 'round_trip' ? 'milliseconds' : measure}`];
    if (data.workers.some(w => w.lost)) notes.push('red: lost');
    if (data.workers.some(w => w.exit_code && !w.lost)) notes.push('amber: failed');
    if (list.some(e => e.other_grid)) notes.push('red edge: its ends have not made the same changes of the grid');
    byId('gridnote').textContent = notes.join(' · ');
    byId('grid').replaceChildren(root);
  };

  // --- tables
  const table = (id, heads, rows) => {
    const cell = (tag, value, kind) => value instanceof HTMLTableCellElement ? value
      : make(tag, kind ? {class: kind} : {}, value);
    byId(id).replaceChildren(
      make('thead', {}, make('tr', {}, ...heads.map(([text, kind]) => cell('th', word(text), kind)))),
      make('tbody', {}, ...rows.map(row => make('tr', {}, ...row.map((value, i) => {
        const one = cell('td', value, heads[i][1]);
        one.dataset.label = heads[i][0];  // beside the value where the screen is narrow
        return one;
      })))));
  };
  const workers = () => {
    const seen = new Map();
    for (const [, rank, name] of data.events.list) {
      if (name === 'end' || name === 'lost') continue;
      if (!seen.has(rank)) seen.set(rank, new Map());
      seen.get(rank).set(name, (seen.get(rank).get(name) || 0) + 1);
    }
    const ended = w => {
      if (w.missing) return make('td', {class: 'text bad'}, 'nothing found');
      const code = known(w.exit_code) ? ` (${w.exit_code})` : '';
      if (w.lost) return make('td', {class: 'text bad'}, 'lost' + code);
      return make('td', {class: 'text ' + (w.exit_code ? 'bad' : 'good')},
        w.exit_code ? `exit code ${w.exit_code}` : 'well');
    };
    const rows = data.workers.map(w => {
      const notes = [...(seen.get(w.rank) || [])].map(([name, times]) => times > 1 ? `${name} ×${times}` : name);
      if (w.exit_code && w.text) notes.unshift(w.text);
      const counters = Object.entries(w.counters || {}).map(([name, value]) => make('li', {},
        counterWords[name] ? make('abbr', {title: counterWords[name]}, name) : name, ` ${count(value)}`));
      const folded = counters.length ? [make('details', {}, make('summary', {}, `${counters.length} counters`),
        make('ul', {class: 'counters'}, ...counters))] : [];
      return [
        make('td', {class: 'text'}, make('span', {class: 'dot', style: `background: ${w.lost ? css('--bad') : colour(w.rank)}`}), w.rank),
        ended(w), count(w.samples), count(w.samples_per_second),
        has('loss') && known(w.loss) ? w.loss.toFixed(4) : '–', percent(w.test_accuracy), percent(w.exchange_share),
        count(w.sweeps), bytes(w.bytes), bytes(w.bytes_shared), known(w.starts) ? w.starts : '–',
        make('td', {class: 'text wide none'}, notes.join(', '), ...folded)];
    });
    table('workers', [['worker', 'text'], ['ended', 'text'], ['samples'], ['samples/s'], ['loss'],
      ['test accuracy'], ['in exchange()'], ['sweeps'], ['sent'], ['shared'], ['starts'],
      ['events and counters', 'text wide']], rows);
  };
  const events = () => {
    const {total, list} = data.events;
    byId('eventnote').textContent = total > list.length ? `${list.length} of ${total} shown` : `${total}`;
    const kind = name => /lost|gone|nan|non|fail|refus/i.test(name) ? 'text bad'
      : /suspect|restart|down/i.test(name) ? 'text warn' : 'text';
    table('events', [['time'], ['worker'], ['event', 'text'], ['', 'text wide']],
      list.map(([time, rank, name, text]) =>
        [clock(time), rank, make('td', {class: kind(name)}, name), text]));
  };

  const redraw = () => {
    legend();
    for (const draw of charts) draw();
    edges();
    grid();
    workers();
  };

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  header();
  cards();
  training();
  toggle('measure', value => { measure = value; edges(); grid(); });
  events();
  byId('config').textContent = data.config;
  byId('file').hidden = !data.config;
  byId('settingnote').textContent = data.settings.length ? 'what differs from the defaults' : 'all options have their defaults';
  byId('settings').parentElement.hidden = !data.settings.length;
  table('settings', [['option', 'text'], ['value', 'text value'], ['default', 'text value']],
        data.settings.map(row => row.map(text => text || '–')));
  const counted = Object.keys(counterWords).filter(name => data.workers.some(w => (w.counters || {})[name]));
  byId('words').append(...[...Object.entries(words), ...counted.map(name => [`counter ${name}`, counterWords[name]])].flatMap(([name, meaning]) =>
    [make('dt', {}, name), make('dd', {}, meaning)]));
  byId('network').hidden = data.grid.edges.length === 0;
  redraw();
  dark.addEventListener('change', redraw);
})();
