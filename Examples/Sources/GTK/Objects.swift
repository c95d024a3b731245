public import CGtk

/// A widget, in the type that GTK's functions take.
public typealias Widget = UnsafeMutablePointer<GtkWidget>

/// A pointer to a GLib object. Some types have typed pointers, and types without a public layout have opaque ones.
public protocol ObjectPointer {
    /// The address of the object.
    var address: UnsafeMutableRawPointer { get }
}

extension OpaquePointer: ObjectPointer {
    public var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
}

extension UnsafeMutablePointer: ObjectPointer {
    public var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
}

extension ObjectPointer {
    /// The object, for functions that take an opaque type.
    public var opaque: OpaquePointer { OpaquePointer(address) }

    /// The object as another type. GTK checks the type when the object is used.
    public func cast<Type>(to type: Type.Type = Type.self) -> UnsafeMutablePointer<Type> {
        address.assumingMemoryBound(to: type)
    }

    /// The object as a widget.
    public var widget: Widget { cast() }
}

extension ObjectPointer {
    /// Sets a Boolean property.
    @MainActor
    public func set(_ property: String, _ flag: Bool) {
        var value = GValue()
        g_value_init(&value, GType(5 << 2))  // G_TYPE_BOOLEAN, a macro
        g_value_set_boolean(&value, flag ? 1 : 0)
        g_object_set_property(cast(), property, &value)
        g_value_unset(&value)
    }

    /// Sets a string property.
    @MainActor
    public func set(_ property: String, _ text: String) {
        var value = GValue()
        g_value_init(&value, GType(16 << 2))  // G_TYPE_STRING, a macro
        g_value_set_string(&value, text)
        g_object_set_property(cast(), property, &value)
        g_value_unset(&value)
    }

    /// Keeps a Swift object alive while this object lives.
    @MainActor
    public func attach(_ object: AnyObject, as name: String) {
        g_object_set_data_full(cast(), name, Unmanaged.passRetained(object).toOpaque()) { data in
            if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
        }
    }

    /// The Swift object that was attached under that name.
    @MainActor
    public func attached<Object: AnyObject>(_ name: String, as type: Object.Type = Object.self) -> Object? {
        g_object_get_data(cast(), name).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }
}
