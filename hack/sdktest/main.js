// Runs the public client SDKs, unmodified, against a server that it starts:
//
//   node main.js --plaza PROGRAM [--version 6|7] [--namespace NAME] [--only TEXT] [--verbose]
//
// It exits with 1 if a function fails that exceptions.js does not list, if a function is listed that passes, or if an
// exported function has no check.
const { execFileSync, fork } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { packages } = require('./lib/packages.js');
const { startServer } = require('./lib/server.js');
const { report } = require('./lib/report.js');

const limit = 45_000; // milliseconds for one check
const atOnce = 3; // namespaces

const { values: flags } = parseArgs({
  options: {
    plaza: { type: 'string' }, version: { type: 'string' }, namespace: { type: 'string' }, only: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

async function main() {
  const { facts, stop } = await startServer(path.resolve(flags.plaza));
  try {
    console.log(`Node ${process.version}, server at ${facts.regions.eu.baseUrl}`);
    runExample(facts);
    const results = [];
    for (const version of versions()) results.push(...await runPackage(version, facts));
    return report(results, { partial: Boolean(flags.only), complete: !flags.only && !flags.namespace && !flags.version, verbose: flags.verbose });
  } finally {
    await stop();
  }
}

// runExample runs the app of the README.
function runExample(facts) {
  const example = path.join(__dirname, 'example.js');
  if (!fs.readFileSync(path.join(__dirname, '../../README.md'), 'utf8').includes(fs.readFileSync(example, 'utf8'))) {
    throw new Error('README.md does not contain hack/sdktest/example.js as it is');
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plaza-example-'));
  const file = path.join(folder, 'dev.json');
  fs.writeFileSync(file, JSON.stringify(facts));
  const printed = execFileSync(process.execPath, [example, file], { encoding: 'utf8', timeout: limit, stdio: ['ignore', 'pipe', 'ignore'] });
  fs.rmSync(folder, { recursive: true });
  if (!printed.includes("posts: [ 'Hello' ]")) throw new Error(`The app of the README printed:\n${printed}`);
  console.log('The app of the README received its post');
}

function versions() {
  return Object.keys(packages).filter(version => flags.version === undefined || version === flags.version);
}

// runPackage runs the checks of every namespace of a package. It returns one result for each namespace.
async function runPackage(version, facts) {
  const peers = {
    bob: await startPeer({ version, facts, region: 'us', user: `bob-${version}` }),
    carol: await startPeer({ version, facts, region: 'sg', user: `carol-${version}` }),
  };
  try {
    const left = namespaces(version).filter(name => flags.namespace === undefined || name === flags.namespace);
    const results = [];
    const runNext = async () => {
      for (let name = left.shift(); name; name = left.shift()) {
        results.push(await runNamespace({ version, facts, namespace: name, peers }));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, runNext));
    return results.sort((a, b) => a.namespace.localeCompare(b.namespace));
  } finally {
    for (const peer of Object.values(peers)) peer.child.kill();
  }
}

// namespaces returns the namespaces that a package exports. Another process loads it, because it changes global objects.
function namespaces(version) {
  const script = `require('${path.join(__dirname, 'lib/environment.js')}');
    const { packages, exportedFunctions, namespaceOf } = require('${path.join(__dirname, 'lib/packages.js')}');
    const names = exportedFunctions(require(packages[${version}])).map(namespaceOf);
    process.stdout.write(JSON.stringify([...new Set(names)]), () => process.exit());`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
}

// startPeer starts the process of another user, and waits until that is signed in.
function startPeer(options) {
  const child = fork(path.join(__dirname, 'lib/peer.js'), [JSON.stringify(options)]);
  const peer = { id: options.user, child, asked: new Map(), count: 0 };
  return new Promise((done, fail) => {
    child.once('exit', code => fail(new Error(`the process of ${options.user} ended with ${code}`)));
    child.on('message', message => {
      if (message.ready) done(peer);
      else {
        peer.asked.get(message.id)(message);
        peer.asked.delete(message.id);
      }
    });
  });
}

// runNamespace runs the checks of a namespace in a process of its own.
function runNamespace({ version, facts, namespace, peers }) {
  const options = {
    version, facts, namespace, limit, only: flags.only, region: 'eu', user: `alice-${namespace}-${version}`.slice(0, 50),
    peers: Object.fromEntries(Object.entries(peers).map(([name, peer]) => [name, peer.id])),
  };
  const result = { version, package: packages[version], namespace, checks: {}, exported: [], written: [], unhandled: [], ended: false };
  const child = fork(path.join(__dirname, 'lib/worker.js'), [JSON.stringify(options)]);
  child.on('message', message => {
    if (message.ask) forward(peers[message.ask.peer], message.ask, child);
    else if (message.done) Object.assign(result, message, { ended: true });
    else result.checks[message.path] = message;
  });
  return new Promise(done => child.once('exit', () => done(result)));
}

// forward sends a call to the process of a peer, and its answer to the worker that asked.
function forward(peer, { id, path, args }, worker) {
  const own = ++peer.count;
  peer.asked.set(own, ({ value, error }) => worker.connected && worker.send({ id, value, error }));
  peer.child.send({ id: own, path, args });
}

main().then(passed => process.exit(passed ? 0 : 1), error => {
  console.error(error);
  process.exit(1);
});
