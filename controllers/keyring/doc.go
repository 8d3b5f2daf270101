// Package keyring decides which keys a network has, and when server keys are created and revoked. It is pure: time,
// randomness and the state of the cluster are inputs, and the caller writes the result.
//
// # Server keys
//
// Each region has a Secret with the file server-keys.json, which its servers read again whenever it changes, and with
// annotations that record the states of the keys:
//
//		Pending ──verified by every server──▶ Active ──successor active──▶ Retiring ──notAfter──▶ revoked and removed
//
//	  - A new key is Pending: servers accept it as soon as they read it. It becomes Active, the key to use, when every server
//	    of the region has confirmed over HTTP that it accepts it.
//	  - A rotation adds a new key. The old key gets notAfter = now + overlap only when the new one becomes Active, so that
//	    servers that cannot be asked, or do not read the new key, never invalidate a key that clients use. From notAfter on,
//	    servers refuse the old key by themselves; its entry is removed afterwards, even while the network is paused.
//	  - A rotation that is requested during another one starts when that one is complete. A file has at most MaxKeys keys; a
//	    further rotation waits for an old key to expire.
//
// # Repairs
//
//   - No Secret, no file, or a file without keys: a first key is created.
//   - An invalid file (no JSON, unknown fields, an entry that the servers would refuse) is an error, and is never overwritten:
//     it may be a failed edit of keys that clients use. Servers continue with the keys that they read before. Fix the file,
//     or remove it to get a new first key.
//   - A key that was added by hand stays until the next rotation is complete, and then expires with the old key. It is
//     listed as Retiring, because it is accepted but not the key to use.
//   - The active key was removed by hand, or was given a notAfter: the first key of the file without notAfter replaces it
//     once it is verified, and no key expires because of that; if there is none, a new key is created.
//   - The pending key was removed by hand: the rotation starts again with a new key.
//   - The annotations were lost: the first key of the file without notAfter becomes pending, and active once it is verified.
//   - The clock was set back: the next rotation is never later than rotateEvery from now, and no old key expires later than
//     overlap from now.
//
// No error, event or printed value of this package contains a key. Ids are not secret; a file in which an id equals a key
// is invalid.
package keyring
