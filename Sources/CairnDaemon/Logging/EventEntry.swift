// What each event says, with which fields, and what to do.
import Logging

/// A row of the table of events.
///
/// In the texts `@CAIRN_REPLICA@` stands for the field's value, as in journald's catalogues.
struct EventEntry: Sendable, Hashable {
  let id: String
  let level: Logger.Level
  /// One line.
  let subject: String
  /// The fields that an entry has, or may have.
  let fields: [Field]
  /// What it means and what to do.
  let text: String

  fileprivate init(
    _ id: String, _ level: Logger.Level, _ subject: String, _ fields: [Field] = [], _ text: String
  ) {
    self.id = id
    self.level = level
    self.subject = subject
    self.fields = fields
    self.text = text
  }
}

extension DaemonEvent {
  /// The event's row in the table.
  var entry: EventEntry {
    switch self {
    case .stopForced, .reloaded, .reloadRefused, .logLevelSet, .backupRestored, .storeMigrated,
      .drained, .stateReported, .storeTaken:
      ofOperation
    case .started, .stopping, .stopped, .failed, .degraded, .recovered, .configurationInvalid,
      .socketUnknown, .callRefused, .callFailed, .connectionDropped, .acceptFailed,
      .probeOverdue, .metricsUnavailable:
      ofDaemon
    case .storeUnavailable, .storeAvailable, .storeAdded, .storeRemoved, .linkStopped,
      .replicaExpired, .replicaReturned, .replicaMadeAnew, .localStoreMade, .passesCompleted,
      .purged:
      ofReplicas
    case .storesDiffer, .storeRestored, .historyLost, .recordQuarantined, .recordsHeld,
      .approvalNeeded, .clockSkew:
      ofContents
    }
  }

  private var ofDaemon: EventEntry {
    switch self {
    case .stopping:
      EventEntry(
        "95fd07c3445e4d29a14dfff6b0e98a7e", .notice, "Cairn is stopping", [],
        "The daemon was asked to stop. It finishes what runs, and takes no new calls.")
    case .stopped:
      EventEntry(
        "c722aa05240b4d548c8bca5c53b9dd2e", .notice, "Cairn has stopped", [],
        "Everything that was acknowledged is on the disk.")
    case .failed:
      EventEntry(
        "1f7c6d0a93e24b58a4c7e2d85b0f6319", .critical, "Cairn cannot go on", [.errorCode, .path],
        """
        The message says what is missing, such as the socket's folder or a right. The daemon ends with \
        an exit code that says whether starting it again may help.
        """)
    case .degraded:
      EventEntry(
        "670a7c3de74345b080f60903698920df", .warning, "Cairn works in part only", [.errorCode],
        """
        The daemon is up but something does not work: @CAIRN_ERROR_CODE@. It answers `cairnctl status`, \
        which says what is wrong and what to do, and it keeps trying where trying again may help. There \
        is one entry a trouble, however often something fails because of it.
        """)
    case .recovered:
      EventEntry(
        "13ca7cec4c7d495eb16b272797366d85", .notice, "Cairn works again", [],
        "All that was said to be wrong is over.")
    case .configurationInvalid:
      EventEntry(
        "ef7bd3ffc4d043908112fa4be3b3a160", .error, "The configuration of Cairn is not valid", [],
        """
        The message names the file, the line and the key, says what is wrong there and what would be \
        right. `cairnd --check-config` shows all problems at once. A daemon that is running goes on with \
        the configuration it has.
        """)
    case .socketUnknown:
      EventEntry(
        "6b8e0f4c2d7a4e19b35c90a1f7d248e6", .warning,
        "Cairn was passed a socket that it does not know", [.socket],
        """
        A socket unit passes in a socket called @CAIRN_SOCKET@. The control socket is called `varlink`: \
        correct FileDescriptorName= in the socket unit.
        """)
    case .callRefused:
      EventEntry(
        "8151e773af464bdfa484fe9f4b4aaba3", .notice, "A call to Cairn was refused",
        [.clientUid, .clientPid, .method, .errorCode],
        """
        User @CAIRN_CLIENT_UID@ may not call, or holds too many connections. Reading needs the status \
        group, changing the admin group (control.statusGroup and control.adminGroup). The same user's \
        calls are noted once in five minutes.
        """)
    case .acceptFailed:
      EventEntry(
        "3e4905eb47d16f2bdcc7718ff0b54c2a", .error, "Cairn cannot take connections",
        [.errorCode, .socket],
        """
        Who connects to @CAIRN_SOCKET@ waits: @CAIRN_ERROR_CODE@. Where files are too many, raise \
        LimitNOFILE= of the unit; `ls /proc/PID/fd` shows what the daemon has open. It tries again each \
        second, and syncs meanwhile what it has open. Noted once in five minutes.
        """)
    case .metricsUnavailable:
      EventEntry(
        "5a1f0c7e9b3d4c46a8e27d90b16f3c58", .warning, "Cairn cannot serve metrics", [.address],
        """
        The socket or address @CAIRN_ADDRESS@ of the section "metrics" cannot be used: another program \
        has it, its folder is not there, or the unit does not allow it. All else works, and `cairnctl \
        metrics` shows the same figures.
        """)
    case .callFailed:
      EventEntry(
        "d3b1132a6e844c43988469e3c15047d0", .error, "A call to Cairn failed unexpectedly",
        [.method, .requestId, .errorType],
        """
        The method @CAIRN_METHOD@ failed in a way the daemon did not expect. This is a fault of the \
        program. The caller was shown the number @CAIRN_REQUEST_ID@.
        """)
    case .connectionDropped:
      EventEntry(
        "ec18b93c95ce4609b20e86a58e1286fc", .notice, "A client of Cairn was disconnected",
        [.clientUid, .clientPid],
        """
        The process @CAIRN_CLIENT_PID@ did not read its answers. The same user's connections are noted \
        once in five minutes.
        """)
    case .probeOverdue:
      EventEntry(
        "a158a99f0e1c49b5bc58e0a80aeff03e", .warning, "A check of the Cairn store is overdue", [],
        """
        What the entry names has not got on for a third of the watchdog interval. If it stays so, systemd \
        ends the daemon and starts it again; committed data is safe. A disk that does not answer is the \
        usual reason. Large transactions and waiting for other programs are none: they get on.
        """)
    default:
      EventEntry(
        "bf4784d43bba4af0b477b1100e4df03c", .notice, "Cairn is ready", [.version],
        "The local store is open and calls are answered. Replicas may still be opening.")
    }
  }

  private var ofOperation: EventEntry {
    switch self {
    case .stopForced:
      EventEntry(
        "4e60df773197454bbc4053a5c66129ce", .warning,
        "Cairn ended without a store that does not answer", [.seconds],
        """
        The daemon was told to stop, and a store did not answer for @CAIRN_SECONDS@ seconds, as on a mount \
        whose server is gone. It ended all the same. What was committed is safe; the step that ran is made \
        anew after the next start. Look at the mounts of the replicas: `findmnt`, `cairnctl stores`.
        """)
    case .reloadRefused:
      EventEntry(
        "3f52487467844d6f8859153222bebc7a", .error, "Cairn goes on with the configuration it has",
        [],
        """
        A reload takes over all changes or none, and this one took over none: the message names what keeps \
        it. What cannot change while the daemon runs is taken over by `systemctl restart cairnd`.
        """)
    case .logLevelSet:
      EventEntry(
        "644d65ddb50b472e934252c0a95f7952", .notice, "Cairn logs from level @CAIRN_STATE@ on",
        [.state],
        "Set by `cairnctl log-level`. A reload or a restart goes back to log.level of the configuration."
      )
    case .backupRestored:
      EventEntry(
        "f8decd31e10043d69bb1a17dde7e84b6", .notice, "A backup is the local store of Cairn now",
        [.path],
        """
        @CAIRN_PATH@ was put in its place by `cairnctl restore`. What was there is kept beside the backups. \
        Replicas bring back what they have that is newer; `cairnctl wait` tells when they have.
        """)
    case .storeMigrated:
      EventEntry(
        "5b7e1f0c9d2a4e8683c4f6a1b0d97e35", .notice,
        "The Cairn store @CAIRN_STORE@ is of another version of the model now", [.store, .model],
        """
        It is of the version @CAIRN_MODEL@. Where values were dropped, a copy of the store as it was is kept \
        beside the backups; the message names it.
        """)
    case .drained:
      EventEntry(
        "4218367ba8834c5fbb4fc00084cb2568", .notice, "Cairn is drained for a planned shutdown",
        [.count],
        """
        The stores are closed, and nothing is accepted any more. @CAIRN_COUNT@ replicas lack something, which \
        they get after the next start. `systemctl restart cairnd` goes on.
        """)
    case .stateReported:
      EventEntry(
        "e3b5a8f9a525481199b44bc4cc42ce85", .notice, "The state of Cairn, as asked for by SIGUSR1",
        [.state, .store, .replica, .pid],
        "One entry for the daemon, one for the local store and one for each replica.")
    case .storeTaken:
      EventEntry(
        "edd84dac83ab490f9f192596ba9b5eb3", .error,
        "Another daemon serves the local store of Cairn", [.owner],
        """
        One daemon at a time keeps a local store: @CAIRN_OWNER@. This one, which no service manager has \
        started, ended with the exit code 69. Stop the other one, or give each daemon a local store of its \
        own with local.path.
        """)
    default:
      EventEntry(
        "509d18542e3c4817bc04543568630196", .notice, "Cairn has reloaded its configuration",
        [.keys],
        "What has changed is in use: @CAIRN_KEYS@.")
    }
  }

  private var ofReplicas: EventEntry {
    switch self {
    case .storeAvailable:
      EventEntry(
        "19f02488b88a45949ee0fbf933355016", .notice,
        "The Cairn store @CAIRN_REPLICA@ is in step again", [.replica],
        "A pass was completed after something was wrong with the replica.")
    case .storeAdded:
      EventEntry(
        "bbef9dca41c645d5974b10661e5145ec", .notice, "The replica @CAIRN_REPLICA@ was added",
        [.replica], "`cairnctl status` shows how far its first copy is.")
    case .storeRemoved:
      EventEntry(
        "de6e523da2594f38ae110b18c7a00889", .notice, "The replica @CAIRN_REPLICA@ was removed",
        [.replica], "Its file stays as it is.")
    case .linkStopped:
      EventEntry(
        "36f0ed51358f4061b9bbb6ae6b15f120", .error, "The link to @CAIRN_REPLICA@ is stopped",
        [.replica, .errorCode],
        """
        It needs a person: @CAIRN_ERROR_CODE@. Nothing is changed on either side until the reason is \
        gone. `cairnctl status` says more.
        """)
    case .replicaExpired:
      EventEntry(
        "b7a3f0d2c5e84a6f9d1b64e08c2f7a95", .warning,
        "A store has been silent for longer than the retention", [.replica, .path, .reader],
        """
        @CAIRN_READER@ has not read from @CAIRN_PATH@, and nothing is kept for it there any more. When it \
        comes back, the stores are compared, and nothing that was written is lost. What is deleted in \
        @CAIRN_PATH@ meanwhile can come back before that, by way of a third store that @CAIRN_READER@ \
        had brought it to and that has no other way to hear of the delete. If it is a replica of \
        this machine that does not come back, `cairnctl store remove` takes it out of `cairnctl status`.
        """)
    case .replicaReturned:
      EventEntry(
        "0c94e7b1a25d4f3e8b60d7c31f9ea482", .warning,
        "A store is back after longer than the retention", [.replica, .path, .count],
        """
        @CAIRN_PATH@ was compared with the other store of the link to @CAIRN_REPLICA@. @CAIRN_COUNT@ \
        records and links that had been deleted meanwhile were deleted in it.
        """)
    case .replicaMadeAnew:
      EventEntry(
        "08966afdddc14c7aa5a6c0a5028569a0", .warning,
        "A replica's file was gone and is made anew", [.replica, .path],
        """
        @CAIRN_PATH@ was not in its folder when the daemon began, and is filled from this machine. Where it was \
        moved away by mistake, it may have changes that had not come here: stop the daemon, move what is at \
        @CAIRN_PATH@ aside with all that is beside it, and put the old files back.
        """)
    case .localStoreMade:
      EventEntry(
        "448803c55f1f4cd1acdbad11fd379a59", .notice, "The local store is a new file", [.path],
        """
        There was no file at @CAIRN_PATH@, as at the first start. Where there should have been one, its disk may \
        not be mounted, or the file was moved away: the replicas fill the new one, and what only the old one had \
        is not in it. Stop the daemon, move what is at @CAIRN_PATH@ aside with all that is beside it, and put the \
        old files back.
        """)
    case .passesCompleted:
      EventEntry(
        "3d5a91c80e7f4b26a1f4c86d20b97e53", .info,
        "Changes between this machine and @CAIRN_REPLICA@",
        [.replica, .passes, .pulled, .pushed, .conflicts, .seconds],
        """
        What the passes of the last @CAIRN_SECONDS@ seconds moved; there is one entry in five minutes at \
        most. `cairnctl conflicts` shows what lost.
        """)
    case .purged:
      EventEntry(
        "72e4b8d60a1c4593bf27e90c5d81f3a6", .info, "What no replica needs any more is removed",
        [.store, .transactions, .records, .bytes, .errorCode],
        """
        History, deleted records and the conflict journal of @CAIRN_STORE@ that are older than \
        sync.retention. With an error code it was not completed, and is tried again a day later.
        """)
    default:
      EventEntry(
        "ef2db30f46204435b77c0e92c20d20f5", .warning,
        "The Cairn store @CAIRN_REPLICA@ cannot be used",
        [.replica, .errorCode],
        """
        Reason: @CAIRN_ERROR_CODE@. The daemon tries again with growing pauses; other stores are not \
        affected. There is one entry a reason, not one an attempt; `cairnctl status` shows the next \
        attempt.
        """)
    }
  }

  private var ofContents: EventEntry {
    switch self {
    case .storeRestored:
      EventEntry(
        "a90f3c7e61b84d25938e0d4fb72c5e18", .warning, "A store went back in time",
        [.replica, .path],
        """
        @CAIRN_PATH@ holds less than it did, as a restored backup does. It is compared with the other \
        store: what it lost comes back, and what it wrote since reaches the others.
        """)
    case .historyLost:
      EventEntry(
        "5e2d84f19b7c4a038c61f5e70a3bd924", .warning, "A store lost history before it was read",
        [.replica, .path],
        """
        A program purged the history of @CAIRN_PATH@, or wrote there while none was kept. The stores were \
        compared instead: a row that is gone there counts as deleted, a value that differs as written there, \
        and both reach the other stores as any write does. What a program purges should be older than a few \
        days.
        """)
    case .recordQuarantined:
      EventEntry(
        "7347524031bb4ee0994b1298fc8e9e09", .warning,
        "Records between this machine and @CAIRN_REPLICA@ wait in quarantine", [.replica, .count],
        """
        The change of a record breaks a rule of the model where it arrived. The stored record stays as it \
        was, and the change is tried again after the next change to it. Other records are not affected. \
        `cairnctl quarantine` shows what waits.
        """)
    case .recordsHeld:
      EventEntry(
        "4b98138d41d642f490b9c6da9209371a", .warning,
        "Records between this machine and @CAIRN_REPLICA@ were written in the future",
        [.replica, .count],
        """
        They are further ahead than sync.maxClockSkew allows and are held until time catches up. Set the \
        clocks of the machines; `cairnctl held` shows what waits and how far ahead it is, and `cairnctl \
        held accept` believes it.
        """)
    case .approvalNeeded:
      EventEntry(
        "05003e4630ff4dc2961bca601936dcc7", .warning,
        "The link to @CAIRN_REPLICA@ waits for an approval", [.replica, .errorCode],
        """
        A pass would delete more than sync.deletions allows. Nothing is changed on either side until a \
        person says so: `cairnctl status` shows what would be deleted where, `cairnctl approve \
        @CAIRN_REPLICA@` lets it go on. If it was a mistake, `cairnctl revert` takes back what a program \
        deleted.
        """)
    case .clockSkew:
      EventEntry(
        "8099f6ed3beb4a6085faebb441c87bc7", .warning, "A clock of @CAIRN_REPLICA@ is or was ahead",
        [.replica, .path, .seconds, .errorCode],
        """
        Changes come from a clock further ahead than sync.maxClockSkew allows. They are held until time \
        catches up. Set the clocks of the machines.
        """)
    default:
      EventEntry(
        "c5021b3b23144d7dbb9a86182bb76283", .error, "Cairn stores differ", [.replica, .count],
        """
        A comparison found that @CAIRN_REPLICA@ does not hold the same data as the local store. \
        `cairnctl verify` lists every difference, `cairnctl repair --dry-run` shows what would make them \
        equal.
        """)
    }
  }
}
