// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are always there: `orb.idl` makes the names of module CORBA visible
//! (CORBA 3.3 Part 1, 7.4).

use std::path::PathBuf;

/// The folder that built-in files claim to be in.
pub(crate) const FOLDER: &str = "<built-in>";

/// The built-in file of that name. A file of the same name on the search path comes first.
pub(crate) fn file(name: &str) -> Option<(PathBuf, &'static str)> {
    let base = name.rsplit('/').next().unwrap_or(name);
    match base {
        "orb.idl" | "CORBA.idl" | "corba.idl" => Some((PathBuf::from(FOLDER).join("orb.idl"), ORB)),
        _ => None,
    }
}

const ORB: &str = r#"#ifndef __ORBIUM_ORB_IDL__
#define __ORBIUM_ORB_IDL__
#pragma prefix "omg.org"
module CORBA {
  native TypeCode;
  enum TCKind {
    tk_null, tk_void, tk_short, tk_long, tk_ushort, tk_ulong, tk_float, tk_double, tk_boolean,
    tk_char, tk_octet, tk_any, tk_TypeCode, tk_Principal, tk_objref, tk_struct, tk_union, tk_enum,
    tk_string, tk_sequence, tk_array, tk_alias, tk_except, tk_longlong, tk_ulonglong,
    tk_longdouble, tk_wchar, tk_wstring, tk_fixed, tk_value, tk_value_box, tk_native,
    tk_abstract_interface, tk_local_interface
  };
  typedef string Identifier;
  typedef string RepositoryId;
  typedef string ScopedName;
  typedef string VersionSpec;
  typedef string ORBid;
  typedef unsigned long Flags;
  typedef unsigned short ServiceType;
  typedef unsigned long ServiceOption;
  typedef unsigned long ServiceDetailType;
  struct ServiceDetail {
    ServiceDetailType service_detail_type;
    sequence<octet> service_detail;
  };
  struct ServiceInformation {
    sequence<ServiceOption> service_options;
    sequence<ServiceDetail> service_details;
  };
  typedef unsigned long PolicyType;
  typedef short PolicyErrorCode;
  const PolicyErrorCode BAD_POLICY = 0;
  const PolicyErrorCode UNSUPPORTED_POLICY = 1;
  const PolicyErrorCode BAD_POLICY_TYPE = 2;
  const PolicyErrorCode BAD_POLICY_VALUE = 3;
  const PolicyErrorCode UNSUPPORTED_POLICY_VALUE = 4;
  exception PolicyError { PolicyErrorCode reason; };
  interface Policy {
    readonly attribute PolicyType policy_type;
    Policy copy();
    void destroy();
  };
  typedef sequence<Policy> PolicyList;
  typedef sequence<PolicyType> PolicyTypeSeq;
  exception InvalidPolicies { sequence<unsigned short> indices; };
  enum SetOverrideType { SET_OVERRIDE, ADD_OVERRIDE };
  enum ParameterMode { PARAM_IN, PARAM_OUT, PARAM_INOUT };
  enum AttributeMode { ATTR_NORMAL, ATTR_READONLY };
  enum OperationMode { OP_NORMAL, OP_ONEWAY };
  local interface Current {};
  typedef sequence<any> AnySeq;
  typedef sequence<boolean> BooleanSeq;
  typedef sequence<char> CharSeq;
  typedef sequence<wchar> WCharSeq;
  typedef sequence<octet> OctetSeq;
  typedef sequence<short> ShortSeq;
  typedef sequence<unsigned short> UShortSeq;
  typedef sequence<long> LongSeq;
  typedef sequence<unsigned long> ULongSeq;
  typedef sequence<long long> LongLongSeq;
  typedef sequence<unsigned long long> ULongLongSeq;
  typedef sequence<float> FloatSeq;
  typedef sequence<double> DoubleSeq;
  typedef sequence<string> StringSeq;
  typedef sequence<wstring> WStringSeq;
  abstract valuetype CustomMarshal {};
  valuetype StringValue string;
  valuetype WStringValue wstring;
  exception WrongTransaction {};
};
#endif
"#;
