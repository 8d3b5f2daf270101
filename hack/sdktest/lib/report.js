// Prints the table of results, and what must change.
const exceptions = require('../exceptions.js');

// report prints results, and returns whether all is as exceptions.js says.
function report(results, { partial, complete, verbose }) {
  const problems = [...results.flatMap(result => problemsOf(result, partial)), ...complete ? unknownExceptions(results) : []];
  const rows = results.map(rowOf);
  console.log(table([['package', 'namespace', 'exported', 'called', 'passed', 'excepted'], ...rows, ...totals(results)]));
  for (const result of results) printExceptions(result);
  if (verbose) for (const result of results) printDetails(result);
  for (const problem of problems) console.log(`FAIL ${problem}`);
  return problems.length === 0;
}

const exceptionOf = (result, path) => exceptions.exceptionOf(result.version, path);

function problemsOf(result, partial) {
  const name = path => `${result.package} ${path}`;
  if (!result.ended) return [`${name(result.namespace)}: the process of the checks ended early`];
  const problems = Object.values(result.checks).flatMap(({ path, error }) => {
    const exception = exceptionOf(result, path);
    if (error && !exception) return [`${name(path)}: ${error}`];
    return !error && exception ? [`${name(path)} passes: remove it from exceptions.js`] : [];
  });
  if (partial) return problems;
  const missing = result.exported.filter(path => !result.checks[path] && exceptionOf(result, path)?.kind !== 'node');
  return [...problems, ...missing.map(path => `${name(path)} has no check in calls/${result.namespace}.js`)];
}

// unknownExceptions returns the entries of exceptions.js for functions that no package exports.
function unknownExceptions(results) {
  return exceptions.exceptions
    .filter(({ path, version }) => !results.some(result => result.exported.includes(path) && (version ?? Number(result.version)) === Number(result.version)))
    .map(({ path }) => `${path} is in exceptions.js but no package exports it`);
}

function rowOf(result) {
  return [result.package, result.namespace, ...counts(result)];
}

function counts(result) {
  const checks = Object.values(result.checks);
  return [
    result.exported.length, checks.filter(check => check.called).length, checks.filter(check => !check.error).length,
    result.exported.filter(path => exceptionOf(result, path)).length,
  ];
}

function totals(results) {
  const names = [...new Set(results.map(result => result.package))];
  return names.map(name => {
    const own = results.filter(result => result.package === name).map(counts);
    return [name, 'total', ...own.reduce((sum, row) => sum.map((count, i) => count + row[i]), [0, 0, 0, 0])];
  });
}

function table(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map(row => String(row[i]).length)));
  const cell = (value, i) => typeof value === 'number' ? String(value).padStart(widths[i]) : String(value).padEnd(widths[i]);
  return rows.map(row => row.map(cell).join('  ').trimEnd()).join('\n');
}

function printExceptions(result) {
  for (const path of result.exported) {
    const exception = exceptionOf(result, path);
    if (exception) console.log(`${result.package} ${path}: ${exception.reason}`);
  }
}

function printDetails(result) {
  for (const { path, took, error } of Object.values(result.checks)) console.log(`${error ? 'fail' : 'pass'} ${took} ms ${result.package} ${path}`);
  for (const error of result.unhandled) console.log(`unhandled rejection in ${result.package} ${result.namespace}: ${error}`);
}

module.exports = { report };
