// Package keyring decides which keys a network has, and when a server key comes and goes. It is pure: time, randomness and
// everything it knows about the cluster are given to it, and what it returns is for the caller to write.
//
// # Server keys
//
// Each region has a Secret with the file server-keys.json, which its servers read again whenever it changes, and with
// annotations that say which of the keys is which:
//
//		Pending ──verified by every server──▶ Active ──successor verified──▶ Retiring ──notAfter──▶ revoked, and removed
//
//	  - A new key is Pending: servers accept it as soon as they see it, but nothing else changes until every server of the region
//	    said over HTTP that it does. Then it is Active, the one to use.
//	  - A rotation puts a new key beside the active one. The old one gets notAfter = now + overlap only when the new one is Active:
//	    servers that cannot be asked, or never see the new key, never cost a client its key. From its notAfter on servers refuse
//	    the old key by themselves, and the entry is removed afterwards, also while the network is paused.
//	  - A rotation that is asked for while one is under way starts when that one is through. At most MaxKeys are in a file; a
//	    rotation beyond that waits for an old key to end.
//
// # What is healed, and how
//
//   - No Secret, no file, or a file without keys: a first key is made. There is nothing to lose.
//   - A broken file (no JSON, unknown fields, an entry that the servers would refuse) is an error, and is never overwritten:
//     it may be a person's edit that went wrong, with keys in it that clients use. Servers stay with the keys they read
//     before. Mend the file, or remove it to have a new first key.
//   - A key that was put in by hand stays as it is until the next rotation is through, and then ends with the old key. It is listed
//     as Retiring, for it is accepted but not the one to use.
//   - The active key taken out by hand: the first key of the file that has no end takes its place, once verified, and nobody
//     retires for it; where there is none, a new one is made at once. The same where the active key was given an end by
//     hand, which it keeps.
//   - The pending key taken out by hand: the rotation starts again, with a new key.
//   - Annotations lost: the first key of the file that has no end counts as pending, and is active once verified.
//   - A clock that went back: a rotation lies never further ahead than rotateEvery, and an old key's end never further than overlap.
//
// No error, event or printed value of this package holds a key. An id is no secret; a file in which an id is one of the
// keys is broken.
package keyring
