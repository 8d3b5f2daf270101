const assert = require('node:assert/strict');
const { Watch, patience } = require('./live.js');
const { resolve } = require('./packages.js');
const fixtures = require('./fixtures.js');

// Check is what the check of one function gets.
class Check {
  constructor(world, sdk, excepted) {
    this.world = world;
    this.sdk = sdk; // the package; calls are recorded
    this.raw = world.sdk; // the package without records, for what a check needs first
    this.version = world.version;
    this.me = world.user;
    this.patience = excepted ? patience.excepted : patience.passing;
    this.watches = [];
    Object.assign(this, world.peers);
  }

  // make returns the result of maker, which is called once for each key in the process.
  make(key, maker) {
    const { made } = this.world;
    if (!made.has(key)) {
      const making = maker();
      made.set(key, making);
      making.catch(() => made.delete(key));
    }
    return made.get(key);
  }

  // name returns a text that no other check uses.
  name(text) {
    return `${text} ${this.me} ${++this.world.count}`;
  }

  // watch starts a live object, a live collection or a listener.
  watch(start) {
    const watch = new Watch(start, this.patience);
    this.watches.push(watch);
    return watch;
  }

  // listen checks a listener: what act does reaches it with a value that fulfils condition.
  async listen(path, act, condition) {
    const watch = this.watch(callback => resolve(this.sdk, path)(callback));
    await act();
    return watch.heard(path, condition);
  }

  // subscribe subscribes to a topic until the process ends, and waits for the server's answer.
  subscribe(topic) {
    return this.make(`subscription to ${topic}`, () => new Promise((done, fail) => {
      this.raw.subscribeTopic(topic, error => (error ? fail(error) : done()));
    }));
  }

  // eventually calls read until its result fulfils condition, for what the server tells with a delay.
  async eventually(what, read, condition) {
    const end = Date.now() + this.patience;
    for (;;) {
      const value = await read();
      if (condition(value)) return value;
      if (Date.now() > end) throw new Error(`${what}: not within ${this.patience} ms; last: ${JSON.stringify(value)?.slice(0, 600)}`);
      await new Promise(done => setTimeout(done, 200));
    }
  }

  // admin sends a request as the administrator.
  admin(method, path, body) {
    return this.world.request(this.world.facts.adminToken, method, path, body);
  }

  // request sends a request as the user.
  request(method, path, body) {
    return this.world.request(this.raw.Client.getActiveClient().token.accessToken, method, path, body);
  }

  end() {
    for (const watch of this.watches) {
      if (typeof watch.end === 'function') watch.end();
    }
  }
}

Object.assign(Check.prototype, fixtures, {
  ok: assert.ok, equal: assert.equal, same: assert.deepEqual, match: assert.match, rejects: assert.rejects, throws: assert.throws,
});

module.exports = { Check };
