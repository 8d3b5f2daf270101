// The player is an element of a page: see exceptions.js.
module.exports = {};
