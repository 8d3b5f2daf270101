// Waits for what the packages tell callbacks.

// How long a condition may take, in milliseconds: of functions that are expected to pass, and of those in exceptions.js.
const patience = { passing: 60000, excepted: 3000 };

// Watch follows a live object, a live collection or a listener: start gets the callback and returns the function that
// ends it.
class Watch {
  constructor(start, patience) {
    this.patience = patience;
    this.told = [];
    this.waiting = new Set();
    this.end = start((...args) => this.tell(args));
  }

  tell(args) {
    this.told.push(args);
    for (const look of this.waiting) look();
  }

  // get last returns the last snapshot.
  get last() {
    return this.told.at(-1)?.[0];
  }

  // until waits until the last snapshot fulfils condition, and returns it. A snapshot with an error fails.
  until(what, condition) {
    return this.wait(what, () => {
      if (this.last?.error) throw this.last.error;
      return this.last && !this.last.loading && condition(this.last) ? { found: this.last } : undefined;
    });
  }

  // heard waits until one of the calls of a listener fulfils condition, and returns its first argument.
  heard(what, condition = () => true) {
    return this.wait(what, () => {
      const call = this.told.find(args => condition(...args));
      return call && { found: call[0] };
    });
  }

  wait(what, look) {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => finish(() => fail(new Error(`${what}: not within ${this.patience} ms; last: ${this.describe()}`))), this.patience);
      const finish = then => {
        clearTimeout(timer);
        this.waiting.delete(attempt);
        then();
      };
      const attempt = () => {
        try {
          const result = look();
          if (result) finish(() => done(result.found));
        } catch (error) {
          finish(() => fail(new Error(`${what}: ${error.message ?? JSON.stringify(error)}`)));
        }
      };
      this.waiting.add(attempt);
      attempt();
    });
  }

  describe() {
    try {
      const rows = Array.isArray(this.last?.data) ? `, ${this.last.data.length} rows` : '';
      return `${this.told.length} calls${rows}, ${JSON.stringify(this.told.at(-1))?.slice(0, 600)}`;
    } catch (error) {
      return `${this.told.length} calls, ${error.message}`;
    }
  }
}

module.exports = { Watch, patience };
