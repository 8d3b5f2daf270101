// What the checks cannot expect to pass, with the reason. kind is node, for functions that Node cannot run, or server, for
// functions whose operation or event Plaza does not serve as the package expects. Functions of kind server are checked: one
// that passes must be removed from here. Entries without a version are for both packages.

// all returns entries with the same reason.
const all = (kind, reason, paths, version) => paths.map(path => ({ kind, path, reason, version }));

// absent returns entries of functions whose operation Plaza does not serve.
const absent = (operation, paths, version) => all('server', `Plaza does not serve ${operation}.`, paths, version);

const exceptions = [
  ...all('node', 'It makes a video element, which only a browser has.', ['LiveStreamPlayer.getPlayer']),
  ...all('node', "It sends to the vendor's address of a region, whatever apiEndpoint says.", ['createUserToken']),
  ...all('node', 'It wraps its key as PKCS #8 a second time, which WebCrypto refuses ("Invalid keyData"), so that it sends nothing.', ['RoomRepository.syncWatchSessions'], 7),
  ...all('server', 'The package hears of streams only through socket.io, by which Plaza sends nothing: it tells the package to use MQTT.', [
    'StreamRepository.onStreamStarted', 'StreamRepository.onStreamStopped', 'StreamRepository.onStreamRecorded',
    'StreamRepository.onStreamFlagged', 'StreamRepository.onStreamTerminated',
  ], 6),
  ...all('server', 'Plaza publishes changed markers as marker.user-sync only: the package expects marker.feed-updated {feedMarkers} on <network>/marker/user/<user>.', ['onFeedMarkerUpdated']),
  ...all('server', 'Plaza publishes changed markers as marker.user-sync only: the package expects marker.userFeed-updated {feedMarkers, userFeedMarkers} on <network>/marker/user/<user>.', ['onSubChannelMarkerUpdated']),
  ...all('server', 'Plaza publishes no receipts: the package expects marker.marked-message {contentMarkers, feedMarkers} on <network>/marker/channel/<channel>/message/<sub-channel>.', ['onMessageMarked']),
  ...all('server', 'Only administrators clear the flags of a user, and Plaza tells no other user of it, because reporters are anonymous.', ['UserRepository.onUserFlagCleared']),
  ...all('server', 'Plaza publishes community.userChanged only when a member changes otherwise than by roles, bans and joining, which no operation does.', ['CommunityRepository.Membership.onCommunityUserChanged']),
  ...all('server', 'Plaza publishes community.created on the topic of the new community, to which no client can have subscribed.', ['CommunityRepository.onCommunityCreated']),
  ...all('server', 'The package sends pinnedProductId null to remove it, which Plaza takes for absent: it removes it for an empty text.', ['PostRepository.unpinProduct'], 7),
  ...absent('GET /api/v1/ads/me', ['AdRepository.getNetworkAds']),
  ...all('server', 'Plaza refuses to fetch pages from addresses of this machine, and a test has no other page.', ['Client.fetchLinkPreview', 'Client.getLinkPreviewMetadata'], 7),
  ...all('node', 'The package looks up the answer by the id of the event, but keeps it by the id of the user, so that it throws on every answer.', [
    'EventRepository.onRSVPCreated', 'EventRepository.onRSVPUpdated', 'EventRepository.onLocalRSVPCreated', 'EventRepository.onLocalRSVPUpdated',
  ], 7),
];

// exceptionOf returns the entry of a function of a package, if there is one.
const exceptionOf = (version, path) => exceptions.find(entry => entry.path === path && (entry.version === undefined || entry.version === Number(version)));

module.exports = { exceptions, exceptionOf };
