// A process that runs the checks of one namespace as one user. It reports each result to main.js.
const { signIn, createClient, handler, request } = require('./user.js');
const { exportedFunctions, namespaceOf, packages, recorded } = require('./packages.js');
const { Check } = require('./check.js');
const { exceptionOf } = require('../exceptions.js');

const options = JSON.parse(process.argv[2]);
const unhandled = [];
// A browser goes on after such an error, for example when a connection is refused because the session has ended.
for (const kind of ['unhandledRejection', 'uncaughtException']) process.on(kind, error => unhandled.push(`${kind}: ${error?.stack ?? error}`));

async function main() {
  const sdk = await signIn(options);
  const calls = require(`../calls/${options.namespace}.js`);
  const exported = exportedFunctions(sdk).filter(path => namespaceOf(path) === options.namespace);
  const world = new World(sdk, options);
  for (const path of exported.filter(path => calls[path] && (!options.only || path.includes(options.only)))) {
    process.send({ path, ...await run(world, path, calls[path]) });
  }
  process.send({ done: true, exported, written: Object.keys(calls), unhandled });
}

// run returns the error of a check, or nothing if it passed.
async function run(world, path, body) {
  const called = new Set();
  const check = new Check(world, recorded(world.sdk, other => called.add(other)), exceptionOf(options.version, path));
  const started = Date.now();
  try {
    await limited(body(check), options.limit);
    if (!called.has(path)) throw new Error('the check did not call the function');
    return { called: true, took: Date.now() - started };
  } catch (error) {
    return { called: called.has(path), error: String(error?.stack ?? error), took: Date.now() - started };
  } finally {
    check.end();
  }
}

function limited(promise, limit) {
  let timer;
  const late = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error(`not within ${limit} ms`)), limit)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// World is what the checks of a worker share: the package, the other users and things that were made once.
class World {
  constructor(sdk, { version, facts, region, user, peers }) {
    Object.assign(this, { sdk, version, facts, region, user, made: new Map(), asked: new Map(), count: 0 });
    this.base = facts.regions[region].baseUrl;
    this.peers = Object.fromEntries(Object.entries(peers).map(([name, id]) => [name, this.peer(name, id)]));
    process.on('message', answer => this.answered(answer));
  }

  // peer returns the user of another process: call runs a function of the package there, request sends a request.
  peer(name, id) {
    const call = (path, ...args) => this.ask(name, path, args);
    return { id, call, request: (...args) => call('request', ...args) };
  }

  ask(peer, path, args) {
    const id = ++this.count;
    return new Promise((done, fail) => {
      this.asked.set(id, { done, fail });
      process.send({ ask: { id, peer, path, args } });
    });
  }

  answered({ id, value, error }) {
    const { done, fail } = this.asked.get(id);
    this.asked.delete(id);
    if (error) fail(new Error(error));
    else done(value);
  }

  request(token, method, path, body) {
    return request(this.base, token, method, path, body);
  }
}

main().then(() => process.exit(0), error => {
  console.error(error);
  process.exit(1);
});
